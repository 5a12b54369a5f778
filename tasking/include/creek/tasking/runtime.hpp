// SPDX-License-Identifier: Apache-2.0
// A runtime: workers on some backend, chosen by value. Everything else in this module happens
// inside run().
#pragma once

#include <concepts>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/core/measuring/counters.hpp>
#include <creek/tasking/ext/backend.hpp>
#include <creek/tasking/fork_join.hpp>
#include <creek/tasking/future.hpp>
#include <creek/tasking/options.hpp>
#include <creek/tasking/remote.hpp>
#include <creek/tasking/spawn.hpp>

namespace creek {

class runtime;

namespace detail {

executor& executor_of(runtime& workers);

/// The task that run() waits for, in the caller's frame.
class root_task : public submitted_task {
 public:
  void run_on(executor& home);

 protected:
  explicit root_task(const task_type* type) noexcept : type_(type) {
    submitted_task::run = &root_task::enter;
    submitted_task::give_up = &root_task::tell_failure;
  }
  ~root_task() = default;
  virtual void body() = 0;

 private:
  static void enter(submitted_task* self) noexcept;
  static void tell_failure(submitted_task* self, std::exception_ptr why) noexcept;
  static bool publish(void* self, strand* waiter);

  const task_type* type_;
  executor* home_ = nullptr;
  strand* waiter_ = nullptr;
  std::exception_ptr failure_;
};

template <class F>
class root_call final : public root_task {
 public:
  using result_type = branch_result_t<F>;
  explicit root_call(F& function) noexcept : root_task(&type), function_(function) {}
  result_type take() { return std::move(*result_); }

 private:
  static constexpr task_type type{nullptr, task_name<F>()};
  void body() override { result_.emplace(invoke_branch(function_)); }
  F& function_;
  std::optional<result_type> result_;
};

}  // namespace detail

/// A type that names a backend and carries its options, such as creek::host.
template <class B>
concept backend_choice = requires(const B& choice) {
  { choice.make() } -> std::convertible_to<std::unique_ptr<detail::backend>>;
};

/// Workers on one backend. Several may live in one process and be used inside one another. Not
/// usable in a child of fork(), which has none of the workers: make a new one there; the inherited
/// one may be destroyed.
class runtime {
 public:
  /// Uses the environment's options (docs/environment.md); by default a host thread per usable CPU.
  runtime();
  explicit runtime(const scheduler_options& options, std::string_view backend = "host");
  template <backend_choice B>
  explicit runtime(const B& choice) : backend_(choice.make()) {}
  runtime(runtime&&) noexcept = default;
  runtime& operator=(runtime&&) = delete;
  runtime(const runtime&) = delete;
  /// Finishes all tasks that were started, then ends the workers. Called on one of its own workers
  /// (std::exit in a task), it leaves the workers alone instead. If a trace cannot be written, it
  /// writes one line to standard error; shut_down() throws instead.
  ~runtime();

  /// Runs `f` on a worker and returns its result or rethrows its exception, after every task that f
  /// spawned, directly or not, has ended. Any thread, several at once; on a worker of this runtime
  /// f is simply called. The calling thread may act as a worker meanwhile, for tasks of this call
  /// only. A void result becomes nothing.
  template <class F>
  auto run(F&& f) {
    using result = typename detail::branch_result<F>::returned;
    require_usable();
    if (detail::current_executor() == backend_.get()) return static_cast<std::decay_t<result>>(f());
    detail::root_call<std::remove_reference_t<F>> call(f);
    call.run_on(*backend_);
    if constexpr (!std::is_void_v<result>) return call.take();
  }
  /// Makes f(arguments...) a task of this runtime, like creek::async(). Any thread.
  template <class F, class... Arguments>
  auto async(priority level, F&& f, Arguments&&... arguments) {
    require_usable();
    return detail::start_async(
        *backend_, level,
        detail::bind_task(std::forward<F>(f), std::forward<Arguments>(arguments)...));
  }
  template <class F, class... Arguments>
  auto async(F&& f, Arguments&&... arguments) {
    return async(priority::normal, std::forward<F>(f), std::forward<Arguments>(arguments)...);
  }

  unsigned worker_count() const noexcept { return backend_->traits().worker_count; }
  const char* backend_name() const noexcept { return backend_->traits().backend_name; }
  const scheduler_options& options() const noexcept { return backend_->options(); }
  /// Returns the sums over the workers since the runtime began; a snapshot, any thread.
  counter_values counters() const { return backend_->counters(); }
  /// Returns the tasks that are suspended just now and what each waits for; any thread. Of the host
  /// backend; others return none.
  std::vector<waiting_task> waiting() const { return backend_->waiting(); }
  /// Writes a line about the runtime and what waiting() returns, in the form of to_string(). Any
  /// thread, also while tasks run: tasks whose waits end meanwhile go on a moment later.
  void dump(std::FILE* to = stderr) const;
  /// Writes a trace for Perfetto and chrome://tracing to `file` when the runtime ends. Throws
  /// creek::error if `file` cannot be opened; shut_down() reports later failures.
  void trace_to(const std::string& file) { backend_->trace_to(file); }
  /// Ends the runtime as the destructor does, but throws creek::error if a trace or a heatmap
  /// cannot be written. Afterwards the runtime can only be destroyed. Throws usage_error on a
  /// worker of this runtime.
  void shut_down();

 private:
  friend detail::executor& detail::executor_of(runtime& workers);
  void require_usable() const;
  std::unique_ptr<detail::backend> backend_;
};

/// Returns what the runtime's tasks are started by. Throws usage_error if it was shut down.
inline detail::executor& detail::executor_of(runtime& workers) {
  workers.require_usable();
  return *workers.backend_;
}

/// Returns the names of the backends that this program has, e.g. {"host", "tbb"}: host, and those
/// whose component (creek::tbb) is linked or, with shared libraries, installed.
std::vector<std::string> backends();

}  // namespace creek

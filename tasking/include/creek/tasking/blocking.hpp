// SPDX-License-Identifier: Apache-2.0
// blocking: calls that block in the kernel, without keeping a worker from other tasks.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <creek/tasking/ext/executor.hpp>

namespace creek {

namespace detail {

/// A call on its way to a thread that may block; lies in the frame of the task that waits for it.
struct blocking_call {
  void (*run)(blocking_call* self) noexcept;
  strand* waiter = nullptr;
  blocking_call* next = nullptr;  ///< in the queue
  int error = 0;                  ///< errno behind the call
};

/// Runs the call on a thread that is no worker and returns when it has ended. Runs it here if the
/// caller may block: on a foreign thread, or where no thread can be had.
void run_where_it_may_block(blocking_call& call);

}  // namespace detail

/// Calls f(arguments...) on a thread that is no worker. The calling task waits, and its worker runs
/// other tasks meanwhile. For calls that may block for long in the kernel: a read from a pipe or
/// socket, a query to a database, a lock that another process holds. Returns what f returns,
/// rethrows what it throws, and sets errno as f left it. On a foreign thread, and on backends with
/// virtual time, f runs on the calling thread. f does not run as part of a task: it must not spawn
/// or use task locals. The process has up to 512 threads for this, which end when they have been
/// idle for 10 s; calls beyond them wait for their turn, so f must not wait for another such call.
/// If not even one thread can be started, f runs on the worker. A child of fork() in f must not
/// return from it. Costs two wake-ups of threads.
template <class F, class... Arguments>
std::invoke_result_t<F, Arguments...> blocking(F&& f, Arguments&&... arguments) {
  using result = std::invoke_result_t<F, Arguments...>;
  static_assert(std::is_void_v<result> || std::is_reference_v<result> ||
                    std::is_constructible_v<std::remove_cv_t<result>, result>,
                "blocking moves what the function returns to its caller: it must be movable");
  const auto invoke = [&]() -> result {
    return std::invoke(std::forward<F>(f), std::forward<Arguments>(arguments)...);
  };
  // The result as it is kept: nothing, the address of what it refers to, or itself.
  using kept =
      std::conditional_t<std::is_void_v<result>, char,
                         std::conditional_t<std::is_reference_v<result>, std::add_pointer_t<result>,
                                            std::remove_cv_t<result>>>;
  struct call : detail::blocking_call {
    explicit call(const decltype(invoke)& body) noexcept
        : blocking_call{&run_this}, function(body) {}
    static void run_this(blocking_call* self) noexcept {
      auto& me = *static_cast<call*>(self);
      try {
        if constexpr (std::is_void_v<result>) {
          me.function();
        } else if constexpr (std::is_reference_v<result>) {
          auto&& referred = me.function();
          me.value = std::addressof(referred);
        } else {
          me.value.emplace(me.function());
        }
      } catch (...) {
        me.failure = std::current_exception();
      }
    }
    const decltype(invoke)& function;
    std::optional<kept> value;
    std::exception_ptr failure;
  } pending(invoke);
  detail::run_where_it_may_block(pending);
  if (pending.failure) std::rethrow_exception(std::move(pending.failure));
  if constexpr (std::is_reference_v<result>) {
    return static_cast<result>(**pending.value);
  } else if constexpr (!std::is_void_v<result>) {
    return std::move(*pending.value);
  }
}

}  // namespace creek

// SPDX-License-Identifier: Apache-2.0
// Runtimes, the task behind run(), and waiting on threads that belong to no runtime.
#include <creek/tasking/runtime.hpp>

#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include <creek/core/environment.hpp>
#include <creek/core/io/atomic_file.hpp>
#include <creek/core/measuring/trace.hpp>
#include <creek/core/threads/futex.hpp>
#include <creek/core/threads/sanitizer.hpp>

namespace creek {

namespace ext {

namespace {

struct foreign_place {
  executor* home = nullptr;
  task_scope* scope = nullptr;
};
thread_local constinit foreign_place foreign_here;

constinit std::atomic<unsigned> blocked{0};

/// The blocked threads are the parent's.
[[maybe_unused]] const int forgets_in_child =
    pthread_atfork(nullptr, nullptr, [] { blocked.store(0, std::memory_order_relaxed); });

/// A plain thread as a strand: it blocks in the kernel.
class thread_executor final : public executor {
 public:
  struct blocked_thread : strand {
    std::atomic<std::uint32_t> resumed{0};
    bool counts = true;  ///< among the blocked threads
  };
  void suspend(publish_fn publish, void* argument, const wait_reason& /*why*/) override {
    blocked_thread self;
    self.home = this;
    if (!publish(argument, &self)) return;
    // Taken off by the resuming thread: a thread that is about to resume does not count.
    blocked.fetch_add(1, std::memory_order_relaxed);
    await(self);
  }
  /// The thread looks at the clock itself. It will go on, so it does not count as blocked.
  void suspend_until(publish_fn publish, void* argument, const wait_reason& /*why*/,
                     wait_limit& limit) override {
    const auto deadline = deadline_clock::now() + limit.span;
    blocked_thread self;
    self.home = this;
    self.counts = false;
    if (!publish(argument, &self)) return;
    while (self.resumed.load(std::memory_order_acquire) == 0) {
      if (futex_wait_until(self.resumed, 0, deadline) != futex_status::timed_out) continue;
      if (limit.expire(&limit) != nullptr) return;
      break;
    }
    await(self);
  }
  void resume(strand* suspended) override {
    auto* thread = static_cast<blocked_thread*>(suspended);
    // The thread may be gone once `resumed` is set: waking a stale address is harmless.
    if (thread->counts) blocked.fetch_sub(1, std::memory_order_relaxed);
    sanitizer::releases(&thread->resumed);
    thread->resumed.store(1, std::memory_order_release);
    futex_wake(thread->resumed, 1);
  }
  void fork(void (*left)(void*) noexcept, void* left_argument, void (*right)(void*) noexcept,
            void* right_argument) override {
    left(left_argument);
    right(right_argument);
  }
  void submit(submitted_task* task) override { task->run(task); }
  int worker_index() const noexcept override { return -1; }
  bool lost_in_fork() const noexcept override { return false; }

 private:
  static void await(const blocked_thread& self) noexcept {
    while (self.resumed.load(std::memory_order_acquire) == 0) futex_wait(self.resumed, 0);
    sanitizer::acquired(&self.resumed);
  }
};

/// Never destroyed: threads may still wait while static objects go.
thread_executor& plain_threads() noexcept {
  alignas(thread_executor) static std::byte storage[sizeof(thread_executor)];
  static thread_executor* instance = ::new (static_cast<void*>(storage)) thread_executor;
  return *instance;
}

}  // namespace

unsigned blocked_threads() noexcept {
  const unsigned now = blocked.load(std::memory_order_relaxed);
  return now <= ~0U / 2 ? now : 0;  // resumed before it was counted: negative for a moment
}
blocked_thread_mark::blocked_thread_mark() noexcept {
  blocked.fetch_add(1, std::memory_order_relaxed);
}
blocked_thread_mark::~blocked_thread_mark() {
  blocked.fetch_sub(1, std::memory_order_relaxed);
}

/// The file is open from the beginning, so that a name that cannot be written is reported at once.
struct backend::trace_output {
  trace_output(const std::string& name, trace::options chosen)
      : file(name), session(std::move(chosen)) {}
  atomic_file file;
  trace::session session;
};

backend::backend() {
  warn_of_misspelt_variables();
}

backend::~backend() = default;

trace::session& backend::open_trace(const std::string& file, trace::options chosen) {
  trace_ = std::make_unique<trace_output>(file, std::move(chosen));
  return trace_->session;
}

std::exception_ptr backend::write_trace() noexcept {
  if (!trace_) return nullptr;
  try {
    trace_->session.write_to(trace_->file);
    trace_->file.commit();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

executor* current_executor() noexcept {
  return current_stack != nullptr ? current_stack->home() : foreign_here.home;
}

task_scope* current_scope() noexcept {
  return current_stack != nullptr ? &current_stack->scope() : foreign_here.scope;
}

void set_foreign_scope(executor* home, task_scope* scope) noexcept {
  foreign_here = {home, scope};
}

task_scope* exchange_foreign_scope(task_scope* scope) noexcept {
  return std::exchange(foreign_here.scope, scope);
}

void suspend_here(publish_fn publish, void* argument, const wait_reason& why) {
  executor* home = current_executor();
  (home != nullptr ? *home : plain_threads()).suspend(publish, argument, why);
}

void suspend_here_until(publish_fn publish, void* argument, const wait_reason& why,
                        wait_limit& limit) {
  executor* home = current_executor();
  (home != nullptr ? *home : plain_threads()).suspend_until(publish, argument, why, limit);
}

executor& require_executor(const char* what) {
  executor* home = current_executor();
  if (home == nullptr) {
    throw usage_error(std::string(what) +
                      ": no runtime on this thread; call it inside creek::runtime::run()");
  }
  return *home;
}

}  // namespace ext

namespace detail {

void root_task::enter(submitted_task* self) noexcept {
  auto* task = static_cast<root_task*>(self);
  root_scope root;
  task_frame frame(&root, task->type_);
  task_scope& scope =
      *current_scope();  // in the child of a fork() in body() there is none any more
  scope.is_root = true;
  try {
    task->body();
  } catch (...) {
    task->failure_ = std::current_exception();
  }
  // All that f spawned ends before run() returns: its children here, the rest by the root.
  if (task_context* children = scope.context) {
    children->wait();
    if (std::exception_ptr failure = children->error.take(); failure && !task->failure_) {
      task->failure_ = std::move(failure);
    }
  }
  frame.finish();
  if (std::exception_ptr failure = root.wait_all(); failure && !task->failure_) {
    task->failure_ = std::move(failure);
  }
  tell_others();
  strand* waiter = task->waiter_;
  waiter->home->resume(waiter);
}

void root_task::tell_failure(submitted_task* self, std::exception_ptr why) noexcept {
  auto* task = static_cast<root_task*>(self);
  task->failure_ = std::move(why);
  task->waiter_->home->resume(task->waiter_);
}

bool root_task::publish(void* self, strand* waiter) {
  auto* task = static_cast<root_task*>(self);
  task->waiter_ = waiter;
  task->home_->submit(task);
  return true;
}

void root_task::run_on(executor& home) {
  home_ = &home;
  submitted_task::name = type_->name;
  const bool is_plain_thread = current_executor() == nullptr;
  if (!is_plain_thread || !home.run_here(*this, waiter_))
    suspend_here(publish, this, "the end of run() of another runtime");
  if (failure_) std::rethrow_exception(std::move(failure_));
}

}  // namespace detail

void taskbarrier() {
  detail::task_scope& scope = detail::require_scope("taskbarrier");
  if (!scope.is_root) {
    throw usage_error("taskbarrier: call it in the task that run() started; here use taskwait()");
  }
  taskwait();
  if (std::exception_ptr failure = scope.root->wait_all()) {
    std::rethrow_exception(std::move(failure));
  }
}

runtime::runtime() {
  const char* name = std::getenv("CREEK_BACKEND");
  backend_ = ext::make_backend(name != nullptr && *name != '\0' ? name : "host",
                               scheduler_options::from_environment());
}

runtime::runtime(const scheduler_options& options, std::string_view backend)
    : backend_(ext::make_backend(backend, options)) {}

runtime::~runtime() {
  if (!backend_) return;
  if (backend_->lost_in_fork() || detail::current_executor() == backend_.get()) {
    // Nobody can join the workers from here: they are in the parent, or one of them is the caller.
    [[maybe_unused]] auto* left_alone = backend_.release();
    return;
  }
  const std::exception_ptr unwritten = backend_->shut_down();
  if (!unwritten) return;
  try {
    std::rethrow_exception(unwritten);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "creek: %s\n", failure.what());
  }
}

void runtime::shut_down() {
  require_usable();
  if (detail::current_executor() == backend_.get()) {
    throw usage_error(
        "runtime: shut_down() was called on one of its workers, which cannot wait for itself");
  }
  const std::exception_ptr unwritten = backend_->shut_down();
  backend_.reset();
  if (unwritten) std::rethrow_exception(unwritten);
}

void runtime::require_usable() const {
  if (!backend_) throw usage_error("runtime: used after it was moved from or shut down");
  if (backend_->lost_in_fork()) {
    throw usage_error(
        "runtime: its workers do not exist in a child of fork(); make a new runtime there");
  }
}

}  // namespace creek

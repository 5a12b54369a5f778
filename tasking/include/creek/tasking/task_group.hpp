// SPDX-License-Identifier: Apache-2.0
// task_group: tasks that are waited for, or cancelled, together.
#pragma once

#include <exception>
#include <optional>
#include <stop_token>
#include <utility>

#include <creek/core/error.hpp>
#include <creek/tasking/spawn.hpp>

namespace creek {

/// A set of tasks. Made inside a runtime, it is waited for by the task that made it; any task may
/// spawn into it meanwhile. Made on a foreign thread, it may be waited for by any one task or
/// thread. One waiter at a time. A task of the group ends when all that it spawned has ended. The
/// destructor joins; exceptions come out of wait() only.
class task_group {
 public:
  task_group() noexcept { context_.owner.store(detail::current_stack, std::memory_order_relaxed); }
  /// Makes a group whose tasks that have not started are skipped once `stop` is requested.
  explicit task_group(std::stop_token stop) : task_group() {
    callback_.emplace(std::move(stop), canceller{this});
  }
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;
  ~task_group() { context_.wait(); }

  /// Makes `f` a task of this group. Has the costs and rules of creek::spawn().
  template <class F>
  void spawn(F&& f) {
    detail::require_scope("task_group::spawn");
    detail::spawn_any<detail::ending::strict>(context_, std::forward<F>(f));
  }
  template <class F>
  void spawn(priority level, F&& f) {
    detail::require_scope("task_group::spawn");
    detail::spawn_any<detail::ending::strict>(context_, level, std::forward<F>(f));
  }
  /// Waits until all tasks of the group are done and rethrows the first exception. The group may be
  /// used again afterwards.
  void wait() {
    const detail::task_stack* owner = context_.owner.load(std::memory_order_relaxed);
    if (owner != nullptr && owner != detail::current_stack) {
      throw usage_error("task_group::wait: call it in the task that made the group");
    }
    context_.wait();
    if (std::exception_ptr failure = context_.error.take()) {
      std::rethrow_exception(std::move(failure));
    }
  }
  /// Keeps tasks that have not begun from running; running ones may ask is_cancelled(). Any thread.
  void cancel() noexcept { context_.cancelled.store(true, std::memory_order_relaxed); }
  bool is_cancelled() const noexcept { return context_.cancelled.load(std::memory_order_relaxed); }
  /// Makes a cancelled group usable again, after wait().
  void reset() noexcept { context_.cancelled.store(false, std::memory_order_relaxed); }

 private:
  struct canceller {
    task_group* group;
    void operator()() const noexcept { group->cancel(); }
  };
  detail::task_context context_;
  std::optional<std::stop_callback<canceller>> callback_;
};

}  // namespace creek

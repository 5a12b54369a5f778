// SPDX-License-Identifier: Apache-2.0
// Strands of a task runtime that wait, and their continuing.
#pragma once

#include "tasks/driver/fork_detector.hpp"
#include "tasks/idle/idle_workers.hpp"
#include "tasks/messages/outside_work.hpp"
#include "worker_stacks.hpp"

namespace creek::scc_backend {

/// A strand that waits leaves its stack, and the worker's loop goes on on another one. It is
/// resumed on its own core, by the loop. State that others can see is changed right after an access
/// that puts the core in its place in time, and before the next.
class strands final : private core_fibers::thread_state {
 public:
  strands(ext::executor& home, const worker_set& workers, schedule_log& log, pending_work& pending,
          outside_work& outside, idle_workers& idle, std::size_t stack_size,
          worker_stacks::loop_function loop);

  /// Makes the engine's stack of the running core the worker's first.
  void begin(task_worker& worker) { stacks_.begin(worker); }
  /// Has the running strand wait, unless `publish` returns false. Throws usage_error in a child of
  /// fork().
  void suspend(ext::publish_fn publish, void* argument);
  /// Like suspend(), but calls limit.expire, on the strand's core, when the span of virtual time is
  /// over.
  void suspend_until(ext::publish_fn publish, void* argument, ext::wait_limit& limit);
  /// Ends the waits of the running worker's strands whose time is over.
  void end_waits(task_worker& worker);
  /// Lets a strand go on. Any thread.
  void resume(ext::strand* suspended);
  /// Continues with a strand whose wait is over, if there is one; this loop's stack is left for
  /// later.
  bool resume_one(task_worker& worker);
  bool lost_in_fork() const noexcept { return forks_.lost_in_fork(); }

  /// Makes `scope`, of the runtime, the calling thread's; null: none.
  void enter(ext::task_scope* scope) noexcept {
    ext::set_foreign_scope(scope != nullptr ? &home_ : nullptr, scope);
  }

 private:
  void* save() noexcept override;
  void restore(void* saved) noexcept override;
  void leave_stack(task_worker& worker);

  ext::executor& home_;
  const worker_set& workers_;
  schedule_log& log_;
  pending_work& pending_;
  outside_work& outside_;
  idle_workers& idle_;
  fork_detector forks_;
  worker_stacks stacks_;
};

}  // namespace creek::scc_backend

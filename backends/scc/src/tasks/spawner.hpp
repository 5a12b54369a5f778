// SPDX-License-Identifier: Apache-2.0
// Making tasks and branches of forks.
#pragma once

#include "tasks/messages/outside_work.hpp"
#include "tasks/pools/pool_bookkeeping.hpp"
#include "tasks/queues/task_queues.hpp"
#include "tasks/stacks/strands.hpp"

namespace creek::scc_backend {

/// Tasks that a worker makes go to its deque, or run at once if that is full; tasks of other
/// threads go to outside_work.
class spawner {
 public:
  spawner(const worker_set& workers, schedule_log& log, pending_work& pending,
          outside_work& outside, pool_bookkeeping& books, task_queues& queues,
          strands& waiting) noexcept
      : workers_(workers),
        log_(log),
        pending_(pending),
        outside_(outside),
        books_(books),
        queues_(queues),
        strands_(waiting) {}

  /// See ext::executor.
  void submit(ext::submitted_task* task);
  void fork(void (*left)(void*) noexcept, void* left_argument, void (*right)(void*) noexcept,
            void* right_argument);
  /// Runs a branch that was taken out of its maker's deque by another worker.
  void run(forked_branch& branch) noexcept;

 private:
  void run_at_once(task_worker& worker, ext::submitted_task* task);
  void note_inline_run(task_worker& worker);

  const worker_set& workers_;
  schedule_log& log_;
  pending_work& pending_;
  outside_work& outside_;
  pool_bookkeeping& books_;
  task_queues& queues_;
  strands& strands_;
};

}  // namespace creek::scc_backend

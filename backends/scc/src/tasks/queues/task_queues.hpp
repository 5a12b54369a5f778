// SPDX-License-Identifier: Apache-2.0
// Deques in which tasks lie until a worker takes them.
#pragma once

#include <optional>

#include "shared_task_deque.hpp"
#include "tasks/idle/idle_workers.hpp"

namespace creek::scc_backend {

/// Work stealing: each worker has a deque in its core's message-passing memory. Work sharing: one
/// deque in core 0's, and the surplus of each worker in private memory. A task is counted in
/// pending_work before others can find it, and an idle worker is woken after.
class task_queues {
 public:
  task_queues(const scheduler_options& options, const worker_set& workers, schedule_log& log,
              pending_work& pending, idle_workers& idle) noexcept
      : options_(options), workers_(workers), log_(log), pending_(pending), idle_(idle) {}

  /// Divides the worker's message-passing memory, and orders its victims.
  void lay_out(task_worker& worker);
  /// Makes the worker's deque, on its core.
  void reset(task_worker& worker) const;
  /// Puts a task where it will be found. Returns false if the deque is full.
  bool put(task_worker& worker, const task_record& made);
  /// Takes the branch out of its maker's deque. Returns false if another worker has the branch.
  bool retake(task_worker& worker, forked_branch& branch);
  /// Takes the worker's newest task.
  bool take_own(task_worker& worker, task_record& task);
  /// Searches the rest of a round of other deques, or a part of it.
  bool steal_one(task_worker& worker, task_record& task);

 private:
  void order_victims(task_worker& worker);
  void share_surplus(task_worker& worker);
  steal_result try_victim(task_worker& worker, task_record& task);
  unsigned pick_victim(task_worker& worker) const;

  const scheduler_options& options_;
  const worker_set& workers_;
  schedule_log& log_;
  pending_work& pending_;
  idle_workers& idle_;
  std::optional<shared_task_deque> shared_;  ///< work sharing only
};

}  // namespace creek::scc_backend

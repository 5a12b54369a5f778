// SPDX-License-Identifier: Apache-2.0
// The loop of a worker: looks outside, serves messages, runs a task or waits for one.
#pragma once

#include "spawner.hpp"
#include "tasks/messages/intake.hpp"

namespace creek::scc_backend {

/// Runs at the bottom of every stack of a worker, on simulated cores only.
class worker_loop {
 public:
  worker_loop(ext::executor& home, const scheduler_options& options, const worker_set& workers,
              schedule_log& log, pending_work& pending, outside_work& outside,
              core_messages& messages, idle_workers& idle, task_queues& queues, strands& waiting,
              spawner& forks) noexcept;

  /// Runs on a core's first stack: makes the worker's queues, then loops.
  void begin(task_worker& worker);
  /// Returns when the runtime has ended.
  void run(task_worker& worker);

 private:
  void await_all_queues(task_worker& worker);
  bool work_once(task_worker& worker);
  bool find_task(task_worker& worker, task_record& task);
  void take_arrived(task_worker& worker, task_record& task);
  void run_task(task_worker& worker, const task_record& taken);

  ext::executor& home_;
  const scheduler_options& options_;
  const worker_set& workers_;
  schedule_log& log_;
  pending_work& pending_;
  core_messages& messages_;
  idle_workers& idle_;
  task_queues& queues_;
  strands& strands_;
  spawner& spawner_;
  intake intake_;
  std::size_t begun_ = 0;  ///< workers that have made their queues
};

}  // namespace creek::scc_backend

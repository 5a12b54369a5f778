// SPDX-License-Identifier: Apache-2.0
// The task runtime on the simulated chip, put together from its parts. One host thread, the driver,
// runs the simulation; the simulated cores are the workers. README.md of this module explains the
// charged costs, the threads outside, and why a run repeats.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <creek/scc.hpp>

#include "chip/machine.hpp"
#include "intake.hpp"
#include "pool_bookkeeping.hpp"
#include "task_observer.hpp"
#include "task_queues.hpp"
#include "worker_stacks.hpp"

namespace creek::scc_backend {

class task_runtime final : public ext::backend_without_task_stacks,
                           private core_fibers::thread_state {
 public:
  explicit task_runtime(scc chosen);
  ~task_runtime() override;

  // ext::executor
  void fork(void (*left)(void*) noexcept, void* left_argument, void (*right)(void*) noexcept,
            void* right_argument) override;
  void submit(ext::submitted_task* task) override;
  void suspend(ext::publish_fn publish, void* argument) override;
  void resume(ext::strand* suspended) override;
  int worker_index() const noexcept override;
  bool lost_in_fork() const noexcept override;

  // ext::backend
  std::exception_ptr shut_down() noexcept override;
  counter_values counters() const override;
  const scheduler_options& options() const noexcept override { return chosen_.options; }
  void trace_to(const std::string& file) override;

 private:
  // task_start.cpp: making and ending a runtime
  void find_stalls();
  void drive() noexcept;
  void fill(task_report& report, virtual_time ended);

  // task_runtime.cpp: tasks and strands, on simulated cores
  void begin(task_worker& worker);
  void loop(task_worker& worker);
  void run(task_worker& worker, const task_record& taken);
  void run_branch(forked_branch& branch) noexcept;
  void* save() noexcept override;
  void restore(void* saved) noexcept override;
  bool work_once(task_worker& worker);
  bool resume_one(task_worker& worker);

  scc chosen_;
  machine chip_;
  worker_set workers_{chip_};
  schedule_log log_{workers_};
  pool_bookkeeping books_{workers_, log_};
  outside_work outside_;
  pending_work pending_;
  sleepers asleep_{workers_,
                   chosen_.options.policy != nullptr || chosen_.options.idle == idle_policy::block};
  policy_notices policy_{chosen_.options, workers_, asleep_};
  idle_workers idle_{chosen_, workers_, log_, pending_, asleep_, policy_};
  task_queues queues_{chosen_.options, workers_, log_, pending_, idle_};
  core_messages messages_{
      *this, chosen_.options.messages, workers_, log_, books_, outside_, pending_, policy_, idle_};
  task_observer observer_{workers_, policy_};
  intake intake_{workers_, pending_, outside_, messages_, idle_};
  worker_stacks stacks_{*this, workers_, chosen_.options.stack_size,
                        [](ext::executor& home, task_worker& worker) {
                          static_cast<task_runtime&>(home).loop(worker);
                        }};
  unsigned fork_generation_;
  std::thread driver_;

  // The driver's own.
  std::size_t begun_ = 0;         ///< workers that have made their deque
  std::exception_ptr unwritten_;  ///< why the chip's records were not written; by the driver
};

}  // namespace creek::scc_backend

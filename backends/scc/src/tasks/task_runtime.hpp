// SPDX-License-Identifier: Apache-2.0
// The task runtime on the simulated chip, put together from its parts. One host thread, the driver,
// runs the simulation; the simulated cores are the workers. README.md of this module explains the
// charged costs, the threads outside, and why a run repeats.
#pragma once

#include <string>

#include <creek/scc.hpp>

#include "runtime_options.hpp"
#include "tasks/driver/chip_driver.hpp"
#include "worker_loop.hpp"

namespace creek::scc_backend {

class task_runtime final : public ext::backend_without_task_stacks {
 public:
  explicit task_runtime(scc chosen);

  // ext::executor
  void fork(void (*left)(void*) noexcept, void* left_argument, void (*right)(void*) noexcept,
            void* right_argument) override {
    spawner_.fork(left, left_argument, right, right_argument);
  }
  void submit(ext::submitted_task* task) override { spawner_.submit(task); }
  void suspend(ext::publish_fn publish, void* argument, const ext::wait_reason& /*why*/) override {
    strands_.suspend(publish, argument);
  }
  void suspend_until(ext::publish_fn publish, void* argument, const ext::wait_reason& /*why*/,
                     ext::wait_limit& limit) override {
    strands_.suspend_until(publish, argument, limit);
  }
  void resume(ext::strand* suspended) override { strands_.resume(suspended); }
  int worker_index() const noexcept override;
  bool lost_in_fork() const noexcept override { return strands_.lost_in_fork(); }

  // ext::backend
  std::exception_ptr shut_down() noexcept override;
  counter_values counters() const override { return workers_.counters(); }
  const scheduler_options& options() const noexcept override { return chosen_.options; }
  void trace_to(const std::string& file) override;

 private:
  scc chosen_;
  machine chip_;
  worker_set workers_{chip_, chosen_.options.workers};
  schedule_log log_{workers_};
  pool_bookkeeping books_{workers_, log_};
  outside_work outside_;
  pending_work pending_;
  idle_workers idle_{chosen_, workers_, log_, pending_};
  task_queues queues_{chosen_.options, workers_, log_, pending_, idle_};
  core_messages messages_{*this, messages_of(chosen_), workers_, log_, books_, outside_, pending_,
                          idle_};
  strands strands_{*this,
                   workers_,
                   log_,
                   pending_,
                   outside_,
                   idle_,
                   chosen_.options.stack_size,
                   [](ext::executor& home, task_worker& worker) {
                     static_cast<task_runtime&>(home).loop_.run(worker);
                   }};
  spawner spawner_{workers_, log_, pending_, outside_, books_, queues_, strands_};
  worker_loop loop_{*this,     chosen_.options, workers_, log_,     pending_, outside_,
                    messages_, idle_,           queues_,  strands_, spawner_};
  chip_driver driver_{chosen_, workers_, log_, books_, idle_.policy()};
};

}  // namespace creek::scc_backend

// SPDX-License-Identifier: Apache-2.0
// Workers without work: how they wait, and who wakes them.
#pragma once

#include <creek/scc.hpp>

#include "policy_notices.hpp"
#include "tasks/pending_work.hpp"
#include "tasks/schedule/schedule_log.hpp"

namespace creek::scc_backend {

/// A worker waits here only while pending_work shows nothing for it: parked in the engine, which
/// passes over the rounds that it would search in vain, or halted. Whoever changes pending_work, or
/// gives a worker something, wakes afterwards; so no wake-up is lost.
class idle_workers {
 public:
  idle_workers(const scc& chosen, const worker_set& workers, schedule_log& log,
               const pending_work& pending)
      : workers_(workers),
        log_(log),
        pending_(pending),
        how_(chosen.options.idle),
        asleep_(workers, chosen.options.policy != nullptr || how_ == idle_policy::block),
        policy_(chosen.options, workers, asleep_),
        kernel_crossing_(chosen.kernel_crossing),
        looks_in_a_round_(chosen.options.scheduler == scheduler_kind::sharing
                              ? 1
                              : std::int64_t(chosen.options.workers) - 1) {}

  /// Called by each worker, on its core, before it looks for work.
  void begin(task_worker& worker) const;
  /// Called when no task lies anywhere: gives the core up until that changes.
  void idle(task_worker& worker);
  /// Has this worker see what has come for it.
  void wake(task_worker& worker) noexcept;
  /// Wakes the workers that may take a task put somewhere now: all that poll, and one that sleeps.
  void wake_takers() noexcept;
  void wake_all() noexcept;
  policy_notices& policy() noexcept { return policy_; }

 private:
  bool may_go_on(const task_worker& worker) const noexcept;
  bool search_for(task_worker& worker, virtual_time span);
  void park(task_worker& worker);
  void skip_rounds(task_worker& worker, virtual_time since);
  void sleep(task_worker& worker, virtual_time search);
  void let_look(task_worker& worker) noexcept;
  virtual_time round_of(const task_worker& worker) const noexcept;
  virtual_time search_of(const task_worker& worker, const idle_plan& plan) const noexcept;

  const worker_set& workers_;
  schedule_log& log_;
  const pending_work& pending_;
  idle_policy how_;
  sleepers asleep_;
  policy_notices policy_;
  cycles kernel_crossing_;
  std::int64_t looks_in_a_round_;  ///< other deques at which a worker looks in turn
};

}  // namespace creek::scc_backend

// SPDX-License-Identifier: Apache-2.0
// Notices to a power policy, and its decisions about workers.
#pragma once

#include <algorithm>

#include <creek/tasking/options.hpp>

#include "power/chip_draws.hpp"
#include "power/wished_clocks.hpp"
#include "sleepers.hpp"

namespace creek::scc_backend {

/// Without a policy, workers wait as the options say and none is too many. A policy is called
/// between begin() and end() only, on simulated cores, where its clock changes take time.
class policy_notices {
 public:
  policy_notices(const scheduler_options& options, const worker_set& workers,
                 const sleepers& asleep)
      : options_(options),
        workers_(workers),
        asleep_(asleep),
        clocks_(workers.chip(), options.workers),
        draws_(workers.chip().description(), options.workers) {}

  /// Tells the options' policy, if there is one, of the chip, and returns it.
  power_policy* begin();
  void end() noexcept;

  /// Tells of a task, or of work by this name, that the worker is about to run.
  void about_to_run(const task_worker& worker, const char* name = nullptr) noexcept;
  /// Returns the plan of a worker that has looked everywhere in vain.
  idle_plan plan_of_waiting(const task_worker& worker) noexcept;
  /// Tells of a task that became ready; returns whether to wake a worker for it, if one sleeps.
  bool wants_another_awake() noexcept;
  /// Returns whether more workers are awake than the policy wants.
  bool too_many_awake() const noexcept { return policy_ != nullptr && awake() > max_awake(); }
  /// Gives the running core the clock that the policy has wished for.
  void settle_clock() noexcept {
    if (policy_ != nullptr) clocks_.settle();
  }

 private:
  unsigned awake() const noexcept { return takers_ - asleep_.takers_asleep(); }
  unsigned max_awake() const noexcept { return std::max(policy_->max_awake(), 1U); }

  const scheduler_options& options_;
  const worker_set& workers_;
  const sleepers& asleep_;
  wished_clocks clocks_;
  chip_draws draws_;
  power_policy* policy_ = nullptr;
  unsigned takers_ = 0;  ///< workers that take tasks
};

}  // namespace creek::scc_backend

// SPDX-License-Identifier: Apache-2.0
// The scheduler's side of a power policy.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include <creek/core/power_policy.hpp>
#include <creek/tasking/options.hpp>

namespace creek::host_backend {

/// Tells the power policy of a scheduler what workers do and asks it how many may be awake. Without
/// a policy nothing is asked and each call costs a compare. The policy has begun before a worker
/// runs and is ended once, when none runs any more. Whatever it wants, one of the `consumers`, the
/// workers that take tasks, may be awake.
class power_governor {
 public:
  power_governor(const scheduler_options& options, unsigned consumers);
  ~power_governor() { end(); }
  power_governor(const power_governor&) = delete;
  power_governor& operator=(const power_governor&) = delete;
  void end() noexcept;

  /// Returns the policy, or nullptr if there is none.
  power_policy* policy() const noexcept { return policy_; }
  void task_begins(unsigned worker, const char* name = nullptr) const noexcept {
    if (policy_ != nullptr) [[unlikely]]
      policy_->task_about_to_run(worker, {.name = name});
  }
  /// Returns how a worker without work waits, `usual` without a policy.
  idle_plan plan_wait(unsigned worker, idle_policy usual) const noexcept {
    if (policy_ != nullptr) [[unlikely]]
      return policy_->worker_idle(worker);
    return idle_plan{usual};
  }
  /// Returns how many may sleep on though worker `by`, -1 for others, made work ready: as the
  /// policy says, but never all consumers.
  std::uint32_t min_asleep_after_ready(int by) const noexcept {
    if (by >= 0 && policy_->tasks_ready(static_cast<unsigned>(by), 1) == 0) return consumers_ - 1;
    return min_asleep();  // asked after that: the answer may depend on the ready tasks
  }
  /// Returns how many the policy wants asleep, at most all but one.
  std::uint32_t min_asleep() const noexcept {
    return consumers_ - std::clamp(policy_->max_awake(), 1U, consumers_);
  }
  /// Returns whether more workers are awake than the policy wants.
  bool too_many_awake(std::uint32_t asleep) const noexcept {
    return policy_ != nullptr && consumers_ - asleep > std::max(policy_->max_awake(), 1U);
  }

 private:
  const unsigned consumers_;
  std::unique_ptr<clock_control> no_clocks_;  ///< for a policy without scheduler_options::clocks
  clock_control* clocks_;
  power_policy* policy_;
};

}  // namespace creek::host_backend

// SPDX-License-Identifier: Apache-2.0
// Calls of a power policy.
#include "policy_notices.hpp"

#include <chrono>
#include <utility>

namespace creek::scc_backend {

power_policy* policy_notices::begin() {
  for (const auto& each : workers_) takers_ += each->serves_only ? 0 : 1;
  if (options_.policy == nullptr) return nullptr;
  options_.policy->begin({.workers = options_.workers, .clocks = &clocks_, .draws = &draws_});
  return policy_ = options_.policy.get();
}

void policy_notices::end() noexcept {
  if (policy_ != nullptr) std::exchange(policy_, nullptr)->end();
}

void policy_notices::about_to_run(const task_worker& worker, const char* name) noexcept {
  if (policy_ == nullptr) [[likely]]
    return;
  const core_operation begun(workers_.chip());
  policy_->task_about_to_run(static_cast<unsigned>(worker.core.value), {.name = name});
  clocks_.settle();
}

idle_plan policy_notices::plan_of_waiting(const task_worker& worker) noexcept {
  if (policy_ == nullptr) return {options_.idle};
  const idle_plan plan = policy_->worker_idle(static_cast<unsigned>(worker.core.value));
  return too_many_awake() ? idle_plan{idle_policy::block, std::chrono::nanoseconds{0}} : plan;
}

bool policy_notices::wants_another_awake() noexcept {
  if (policy_ == nullptr) return true;
  if (asleep_.takers_asleep() == 0 || awake() >= max_awake()) return false;
  return policy_->tasks_ready(static_cast<unsigned>(workers_.here().core.value), 1) > 0;
}

}  // namespace creek::scc_backend

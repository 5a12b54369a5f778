// SPDX-License-Identifier: Apache-2.0
// Begins and ends the power policy of a scheduler.
#include "power_governor.hpp"

namespace creek::host_backend {

power_governor::power_governor(const scheduler_options& options, unsigned consumers)
    : consumers_(consumers), clocks_(options.clocks.get()), policy_(options.policy.get()) {
  if (policy_ == nullptr) return;
  if (clocks_ == nullptr) {
    no_clocks_ = std::make_unique<no_clock_control>(
        "scheduler_options::clocks is not set; give it creek::power::linux_clocks()");
    clocks_ = no_clocks_.get();
  }
  policy_->begin({.workers = options.workers, .clocks = clocks_});
}

void power_governor::end() noexcept {
  if (policy_ == nullptr) return;
  policy_->end();
  clocks_->forget_wishes();  // does nothing for no_clocks_
  policy_ = nullptr;
}

}  // namespace creek::host_backend

// SPDX-License-Identifier: Apache-2.0
// Idle workers sleep in the kernel, and when k tasks become ready, k workers are woken, as [Alonso
// 2011] does in SuperMatrix with a semaphore.
#include <chrono>

#include "named_policy.hpp"
#include "policy_makers.hpp"

namespace creek::power::detail {

namespace {

/// A longer search uses more energy than sleeping and waking up.
constexpr std::chrono::microseconds short_search{5};

class blocking final : public named_policy {
 public:
  blocking() noexcept : named_policy("blocking") {}
  idle_plan worker_idle(unsigned) noexcept override { return {idle_policy::block, short_search}; }
  unsigned tasks_ready(unsigned, unsigned count) noexcept override { return count; }
};

}  // namespace

std::shared_ptr<power_policy> make_blocking(const policy_options&) {
  return std::make_shared<blocking>();
}

}  // namespace creek::power::detail

// SPDX-License-Identifier: Apache-2.0
// Idle workers sleep in the kernel, and k tasks that become ready have k workers awake, as
// published for SuperMatrix with a semaphore.
#include "named_policy.hpp"
#include "policy_makers.hpp"

namespace creek::power::detail {

namespace {

class blocking final : public named_policy {
 public:
  blocking() noexcept : named_policy("blocking") {}
  idle_plan worker_idle(unsigned) noexcept override { return {idle_policy::block}; }
  unsigned tasks_ready(unsigned, unsigned count) noexcept override { return count; }
};

}  // namespace

std::shared_ptr<power_policy> make_blocking(const policy_options&) {
  return std::make_shared<blocking>();
}

}  // namespace creek::power::detail

// SPDX-License-Identifier: Apache-2.0
// Idle workers search without pause, at their current clock: the usual behaviour of task libraries,
// and the baseline for the other policies.
#include "named_policy.hpp"
#include "policy_makers.hpp"

namespace creek::power::detail {

namespace {

class polling final : public named_policy {
 public:
  polling() noexcept : named_policy("polling") {}
  idle_plan worker_idle(unsigned) noexcept override { return {idle_policy::poll}; }
};

}  // namespace

std::shared_ptr<power_policy> make_polling(const policy_options&) {
  return std::make_shared<polling>();
}

}  // namespace creek::power::detail

// SPDX-License-Identifier: Apache-2.0
// Factory functions of the policies behind make_policy(), each in the file of its name.
#pragma once

#include <memory>

#include <creek/power/policies.hpp>

namespace creek::power::detail {

std::shared_ptr<power_policy> make_polling(const policy_options& options);
std::shared_ptr<power_policy> make_blocking(const policy_options& options);
std::shared_ptr<power_policy> make_frequency(const policy_options& options);
std::shared_ptr<power_policy> make_race_to_idle(const policy_options& options);
std::shared_ptr<power_policy> make_slack_reduction(const policy_options& options);
std::shared_ptr<power_policy> make_power_cap(const policy_options& options);
std::shared_ptr<power_policy> make_energy_delay(const policy_options& options);

}  // namespace creek::power::detail

// SPDX-License-Identifier: Apache-2.0
#include <creek/power/policies.hpp>

#include <algorithm>
#include <array>
#include <string>

#include <creek/core/error.hpp>

#include "policy_makers.hpp"

namespace creek::power {

namespace {

struct known_policy {
  std::string_view name;
  std::shared_ptr<power_policy> (*make)(const policy_options&);
};

constexpr std::array known{
    known_policy{"polling", &detail::make_polling},
    known_policy{"blocking", &detail::make_blocking},
    known_policy{"frequency", &detail::make_frequency},
    known_policy{"race_to_idle", &detail::make_race_to_idle},
    known_policy{"slack_reduction", &detail::make_slack_reduction},
    known_policy{"power_cap", &detail::make_power_cap},
    known_policy{"energy_delay", &detail::make_energy_delay},
};

constexpr auto names = [] {
  std::array<std::string_view, known.size()> made;
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = known[i].name;
  return made;
}();

}  // namespace

std::span<const std::string_view> policy_names() noexcept {
  return names;
}

std::shared_ptr<power_policy> make_policy(std::string_view name, const policy_options& options) {
  std::string spelt(name);
  std::replace(spelt.begin(), spelt.end(), '-', '_');
  for (const known_policy& each : known) {
    if (each.name == spelt) return each.make(options);
  }
  std::string valid;
  for (const std::string_view each : names) {
    valid += (valid.empty() ? "" : ", ") + std::string(each);
  }
  throw usage_error("unknown power policy '" + std::string(name) + "'; valid: " + valid);
}

}  // namespace creek::power

// SPDX-License-Identifier: Apache-2.0
#include "policy_options.hpp"

#include <algorithm>
#include <creek/core/error.hpp>
#include <creek/power/policies.hpp>

#include "command_line/command.hpp"

namespace creek::tool {

void add_policy_limits(command_line::option_group& group, policy_limits& given) {
  group.add_option("--watts", given.watts, "Maximum power, for the policy power_cap")->positive();
  group
      .add_option("--bound", given.bound,
                  "Share of the time by which the end may move, for the policy slack_reduction")
      ->range(0, 1)
      ->show_default();
}

void refuse_without_policy(const command_line::command& command,
                           const std::vector<std::string>& policies) {
  const auto refuse = [&](const char* option, const std::string& policy) {
    const auto is_it = [&](const std::string& name) { return spelt_policy(name) == policy; };
    if (command.count(option) > 0 && std::ranges::none_of(policies, is_it)) {
      throw usage_error(std::string(option) + ": needs the policy " + policy);
    }
  };
  refuse("--watts", "power_cap");
  refuse("--bound", "slack_reduction");
}

std::string spelt_policy(std::string name) {
  std::ranges::replace(name, '-', '_');
  return name;
}

bool controls_clocks(std::string_view policy) noexcept {
  return policy != "polling" && policy != "blocking";
}

std::shared_ptr<power_policy> policy_named(std::string_view name, const policy_limits& limits,
                                           const work_graph& plan) {
  power::policy_options options{
      .watts = limits.watts, .bound = limits.bound, .plan = {}, .model = {}};
  if (name == "slack_reduction") options.plan = plan;
  return power::make_policy(name, options);
}

}  // namespace creek::tool

// SPDX-License-Identifier: Apache-2.0
// The options that only some power policies have.
#pragma once

#include <creek/core/power_policy.hpp>
#include <creek/core/work_graph.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace creek::command_line {
class command;
class option_group;
}  // namespace creek::command_line

namespace creek::tool {

struct policy_limits {
  double watts = 0;     ///< maximum power of the policy power_cap
  double bound = 0.02;  ///< share of the time by which slack_reduction may move the end
};

/// Adds --watts and --bound. `given` outlives the parse.
void add_policy_limits(command_line::option_group& group, policy_limits& given);

/// Throws usage_error if --watts or --bound was given and none of `policies` uses it.
void refuse_without_policy(const command_line::command& command,
                           const std::vector<std::string>& policies);

/// Returns a policy's name with '_' instead of '-'.
[[nodiscard]] std::string spelt_policy(std::string name);

/// Returns whether a policy controls clocks: all do except those that only say how to wait.
[[nodiscard]] bool controls_clocks(std::string_view policy) noexcept;

/// Makes a policy; `plan` is the tasks to come, for slack_reduction. Throws usage_error if the name
/// is unknown, or the policy lacks an option.
[[nodiscard]] std::shared_ptr<power_policy> policy_named(std::string_view name,
                                                         const policy_limits& limits,
                                                         const work_graph& plan = {});

}  // namespace creek::tool

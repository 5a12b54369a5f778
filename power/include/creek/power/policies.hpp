// SPDX-License-Identifier: Apache-2.0
// The policies that come with creek, by name. A user's own derives from creek::power_policy.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include <creek/core/power_policy.hpp>
#include <creek/core/work_graph.hpp>
#include <creek/power/host_model.hpp>

namespace creek::power {

/// What some policies have to be told.
struct policy_options {
  /// power_cap: the most that the workers, what they share included, may draw by the model.
  double watts = 0;
  /// slack_reduction: the end time moves by no more than this share.
  double bound = 0.02;
  /// slack_reduction: the tasks to come, see slack_plan.hpp.
  work_graph plan = {};
  /// power_cap, energy_delay: what workers draw, where the backend has no model of its own.
  host_model model = {};
};

/// Names as the tool spells them; '-' for '_' is understood as well.
[[nodiscard]] std::span<const std::string_view> policy_names() noexcept;

/// For scheduler_options::policy. Throws usage_error that lists the names for an unknown one, or
/// says which option a policy lacks.
[[nodiscard]] std::shared_ptr<power_policy> make_policy(std::string_view name,
                                                        const policy_options& options = {});

}  // namespace creek::power

// SPDX-License-Identifier: Apache-2.0
// Policies provided by creek, by name. User-defined policies derive from creek::power_policy.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include <creek/core/power_policy.hpp>
#include <creek/core/work_graph.hpp>
#include <creek/power/host_model.hpp>

namespace creek::power {

/// Options of some policies.
struct policy_options {
  /// power_cap: maximum modelled draw of the workers and the parts that they share.
  double watts = 0;
  /// slack_reduction: maximum delay of the end time, as a fraction of it.
  double bound = 0.02;
  /// slack_reduction: the tasks to come, see slack_plan.hpp.
  work_graph plan = {};
  /// power_cap, energy_delay: draws of workers, if the backend has no model of its own.
  host_model model = {};
};

/// Returns the names as the tool spells them; '-' is accepted in place of '_'.
[[nodiscard]] std::span<const std::string_view> policy_names() noexcept;

/// Returns a policy for scheduler_options::policy. Throws usage_error that lists the names if the
/// name is unknown, or names the option that a policy lacks.
[[nodiscard]] std::shared_ptr<power_policy> make_policy(std::string_view name,
                                                        const policy_options& options = {});

}  // namespace creek::power

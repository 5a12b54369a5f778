// SPDX-License-Identifier: Apache-2.0
// Runs of several policies, round by round, and what they say.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "measured_run.hpp"
#include "setup.hpp"
#include "statistics.hpp"

namespace creek::tool::compare {

/// The quantities that policies are compared by.
enum class metric { time, energy, energy_delay, cpu, idle_cpu };
inline constexpr metric metrics[] = {metric::time, metric::energy, metric::energy_delay,
                                     metric::cpu, metric::idle_cpu};

struct policy_runs {
  std::string policy;
  std::vector<measured_run> runs;      ///< one a round
  std::optional<measured_run> traced;  ///< not measured: with its trace, and energy over time
};

/// All that was done at one size.
struct study {
  long long n = 0;
  std::string about;
  backend_facts facts;
  std::vector<policy_runs> policies;            ///< the first is the baseline
  std::vector<std::vector<std::size_t>> order;  ///< by round: places in `policies`
};

/// The value in a run; nothing without joules.
std::optional<double> value_of(metric what, const measured_run& run) noexcept;
/// Returns the value of every run; empty if one of them lacks it.
std::vector<double> values_of(metric what, const policy_runs& of);
/// Returns the difference to the first policy; nothing for that one, and where there is nothing to
/// compare. For simulated runs it has no interval: it is exact.
std::optional<difference> difference_of(metric what, const study& all, std::size_t policy);

/// Means over the runs of the shares with 0, 1, ... workers in tasks; empty without a graph.
std::vector<double> mean_activity(const policy_runs& of);

/// Called with a message before each run, to show a waiting user the progress.
using progress = std::function<void(const std::string&)>;

/// Each round runs all policies, in an order drawn anew, so that what disturbs the machine disturbs
/// all alike, and none always comes after the same other. Throws std::runtime_error for a wrong
/// answer.
study run_study(const setup& given, long long n, const progress& tell);

}  // namespace creek::tool::compare

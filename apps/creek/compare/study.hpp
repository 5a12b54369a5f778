// SPDX-License-Identifier: Apache-2.0
// Runs several policies, round by round, and evaluates the results.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compare/runs/measured_run.hpp"
#include "setup.hpp"
#include "statistics.hpp"

namespace creek::tool::compare {

/// The quantities that policies are compared by.
enum class metric { time, energy, energy_delay, cpu, idle_cpu };
inline constexpr metric metrics[] = {metric::time, metric::energy, metric::energy_delay,
                                     metric::cpu, metric::idle_cpu};

struct policy_runs {
  std::string policy;
  std::vector<measured_run> runs;      ///< one per round
  std::optional<measured_run> traced;  ///< extra run, not measured: trace, and energy over time
};

/// Everything done at one size.
struct study {
  long long n = 0;
  std::string about;
  backend_facts facts;
  std::vector<policy_runs> policies;            ///< the first is the baseline
  std::vector<std::vector<std::size_t>> order;  ///< per round: indices into `policies`
};

struct metric_facts {
  std::optional<double> (*value)(const measured_run&);  ///< nullopt without joules
  /// Names in JSON and titles of tables; simulated quantities have others than measured ones.
  const char *name, *simulated_name, *title, *simulated_title;
  bool of_energy = false;
};
const metric_facts& facts_of(metric what) noexcept;
/// Returns the value of every run; empty if one of them lacks it.
std::vector<double> values_of(metric what, const policy_runs& of);
/// Returns the difference to the first policy, or nullopt for the first policy itself or if there
/// is nothing to compare. For simulated runs it has no interval, since it is exact.
std::optional<difference> difference_of(metric what, const study& all, std::size_t policy);

/// Returns the mean over the runs of the shares with 0, 1, ... workers in tasks; empty: no graph.
std::vector<double> mean_activity(const policy_runs& of);

/// Called with a message before each run, to show a waiting user the progress.
using progress = std::function<void(const std::string&)>;

/// Runs a study. Each round runs all policies, in a new random order, so that a disturbance of the
/// machine affects all alike, and none always comes after the same other one. Throws
/// std::runtime_error for a wrong answer.
study run_study(const setup& given, long long n, const progress& tell);

}  // namespace creek::tool::compare

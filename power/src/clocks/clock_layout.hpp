// SPDX-License-Identifier: Apache-2.0
// Clocks available to the workers of a control, and groups of CPUs that share one.
#pragma once

#include <string>
#include <vector>

#include <creek/core/units.hpp>

#include "cpufreq.hpp"

namespace creek::power {

struct clock_layout {
  std::vector<units::hertz> clocks;                 ///< available clocks, lowest first
  std::vector<std::vector<cpufreq_policy>> groups;  ///< policies whose CPUs run at one clock
  std::string why_not;                              ///< why there is no choice; empty otherwise
};

/// Returns the layout of `cpus`, which must not be empty. If not `pinned`: one group with all of
/// them. `steps`: number of clocks if a driver has no table.
[[nodiscard]] clock_layout lay_out_clocks(const std::string& root, const std::vector<int>& cpus,
                                          bool pinned, unsigned steps);

/// Returns the CPUs that this process may use, in ascending order.
[[nodiscard]] std::vector<int> usable_cpus();

}  // namespace creek::power

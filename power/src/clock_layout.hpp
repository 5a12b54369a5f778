// SPDX-License-Identifier: Apache-2.0
// Which clocks the workers of a control can have, and which CPUs share one.
#pragma once

#include <string>
#include <vector>

#include <creek/core/units.hpp>

#include "cpufreq.hpp"

namespace creek::power {

struct clock_layout {
  std::vector<units::hertz> clocks;                 ///< to choose from, lowest first
  std::vector<std::vector<cpufreq_policy>> groups;  ///< policies whose CPUs run at one clock
  std::string why_not;                              ///< why there is no choice; empty: there is
};

/// Of `cpus`, which are not empty. Not pinned: one group of all. `steps`: how many clocks where a
/// driver has no table.
[[nodiscard]] clock_layout lay_out_clocks(const std::string& root, const std::vector<int>& cpus,
                                          bool pinned, unsigned steps);

/// Ascending; those that this process may use.
[[nodiscard]] std::vector<int> usable_cpus();

}  // namespace creek::power

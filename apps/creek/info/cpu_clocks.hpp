// SPDX-License-Identifier: Apache-2.0
// Facts that `creek info` prints about the clocks of the CPUs.
#pragma once

#include <string>
#include <vector>

#include <creek/power/linux_clocks.hpp>

#include "json/json_value.hpp"

namespace creek::tool {

struct cpu_clocks {
  std::vector<power::linux_clock_policy> policies;
  std::string why_not;  ///< why this process cannot set its CPUs' clocks; empty: it can
};

cpu_clocks look_at_cpu_clocks();

json_value to_json(const cpu_clocks& found);

/// Returns a line for each kind of policy and one that says why the clocks cannot be set; `indent`
/// precedes all lines but the first.
std::string to_text(const cpu_clocks& found, const std::string& indent);

}  // namespace creek::tool

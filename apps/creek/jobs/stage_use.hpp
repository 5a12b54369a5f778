// SPDX-License-Identifier: Apache-2.0
// Time and energy of the stages of a MapReduce job on a simulated chip.
#pragma once

#include <array>

#include <creek/core/units.hpp>
#include <creek/mapreduce/options.hpp>

namespace creek::tool {

/// Time of a stage on the cores, with waits for other cores, and the energy of all cores.
struct stage_use {
  exact_time longest, median, shortest;
  units::joules energy;
};
using stage_uses = std::array<stage_use, mapreduce::stage_count>;

}  // namespace creek::tool

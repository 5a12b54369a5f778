// SPDX-License-Identifier: Apache-2.0
// Which tasks of a graph may run at lower clocks without the whole ending later: what the policy
// slack_reduction does, and what it predicts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <creek/core/units.hpp>
#include <creek/core/work_graph.hpp>

namespace creek::power {

/// Times are in units of the tasks' work: flops of one worker at the highest clock, or its seconds.
struct slack_plan {
  std::vector<std::uint16_t> steps;  ///< of the clocks, by task
  double end_at_top = 0;             ///< of the simulated schedule with all at the highest clock
  double end = 0;                    ///< with each task at its step; at most (1 + bound) of that
  std::size_t slowed = 0;            ///< tasks below the highest clock
  double slowed_work = 0;            ///< ... and their share of all work
};

/// Simulates the graph on so many workers by list scheduling, and gives each task the lowest clock
/// at which the simulated end moves by no more than `bound`, as a share. Slack is given to those
/// that begin first; a step is checked by simulation, not proven to be the best that there is. A
/// task's time is taken to be inverse to its clock: tasks that wait for memory are faster than
/// that. Tasks of work 0, which is unknown, stay at the highest clock. `clocks` lowest first. Near
/// linear in tasks and edges. Throws usage_error for a bound that is negative or no number, no
/// workers or no clocks, or a graph whose successors or work make no sense.
[[nodiscard]] slack_plan plan_slack(const work_graph& graph, unsigned workers,
                                    std::span<const units::hertz> clocks, double bound);

}  // namespace creek::power

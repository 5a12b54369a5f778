// SPDX-License-Identifier: Apache-2.0
// Selection of tasks of a graph that may run at lower clocks without delaying its end: the plan of
// the policy slack_reduction, and its prediction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <creek/core/units.hpp>
#include <creek/core/work_graph.hpp>

namespace creek::power {

/// Plan; times are in units of work: flops of one worker at the highest clock, or its seconds.
struct slack_plan {
  std::vector<std::uint16_t> steps;  ///< index of the clock, by task
  double end_at_top = 0;             ///< end of the schedule with all at the highest clock
  double end = 0;                    ///< with each task at its step; at most (1 + bound) times that
  std::size_t slowed = 0;            ///< tasks below the highest clock
  double slowed_work = 0;            ///< ... and their share of the total work
};

/// Simulates the graph on `workers` workers by list scheduling, and gives each task the lowest
/// clock at which the end of that simulation moves by no more than `bound`, as a fraction. Tasks
/// that begin first get slack first; a plan is checked by simulation, not proven optimal. A task's
/// time is assumed to be inverse to its clock: tasks that wait for memory are faster than that.
/// Tasks of work 0 (unknown) stay at the highest clock. `clocks` are in ascending order. Nearly
/// linear in tasks and edges. Throws usage_error for a bound that is negative or not a number, no
/// workers or no clocks, or a graph with invalid successors or work.
[[nodiscard]] slack_plan plan_slack(const work_graph& graph, unsigned workers,
                                    std::span<const units::hertz> clocks, double bound);

}  // namespace creek::power

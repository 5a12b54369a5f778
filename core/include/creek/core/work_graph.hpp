// SPDX-License-Identifier: Apache-2.0
// A graph of tasks as a planner sees it: how long each task is, and which tasks wait for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <creek/core/language.hpp>

namespace creek {

/// A task, numbered as task_profile::number by its place in work_graph::tasks.
struct planned_task {
  std::string name;
  double work = 0;  ///< flops, or seconds at the highest clock if they were measured; 0: unknown
  int priority = 0;
  std::vector<std::uint32_t> successors;  ///< tasks that wait for it; all have larger numbers
};

/// The graph that task_graph::plan() finds in a dry run (creek/linalg).
struct work_graph {
  std::vector<planned_task> tasks;
};

}  // namespace creek

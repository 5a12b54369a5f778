// SPDX-License-Identifier: Apache-2.0
// How a graph of tasks would run on some workers: the schedule of a list scheduler that takes, of
// the ready tasks, the one of largest priority, then of the longest remaining path, then the first
// added, as task graphs of creek/linalg do (but for the worker that wrote its block).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <creek/core/work_graph.hpp>

namespace creek::power::detail {

struct list_schedule {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::vector<std::uint32_t> order;   ///< tasks as they begin
  std::vector<std::uint32_t> before;  ///< by task: the one before on its worker
  double end = 0;
};

class list_scheduler {
 public:
  /// Throws usage_error if the graph is none: see work_graph.
  explicit list_scheduler(const work_graph& graph);

  /// If task t takes took[t]. O(tasks log tasks + edges).
  list_schedule run(std::span<const double> took, unsigned workers);

 private:
  const work_graph& graph_;
  std::vector<double> paths_;             ///< by work, from a task's beginning to the end
  std::vector<std::uint32_t> waits_for_;  ///< number of predecessors
};

}  // namespace creek::power::detail

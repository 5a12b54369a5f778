// SPDX-License-Identifier: Apache-2.0
// Schedule of a graph on some workers: a list scheduler takes the ready task of largest
// priority, then of the longest remaining path, then the first added, like task graphs of
// creek/linalg (except for the worker that wrote its block).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <creek/core/work_graph.hpp>

namespace creek::power::detail {

struct list_schedule {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::vector<std::uint32_t> order;   ///< tasks in the order in which they begin
  std::vector<std::uint32_t> before;  ///< by task: the previous task on its worker
  double end = 0;
};

class list_scheduler {
 public:
  /// Throws usage_error if the graph is invalid: see work_graph.
  explicit list_scheduler(const work_graph& graph);

  /// Returns the schedule if task t takes took[t]. O(tasks log tasks + edges).
  list_schedule run(std::span<const double> took, unsigned workers);

 private:
  const work_graph& graph_;
  std::vector<double> paths_;             ///< by task: work from its beginning to the end
  std::vector<std::uint32_t> waits_for_;  ///< number of predecessors
};

}  // namespace creek::power::detail

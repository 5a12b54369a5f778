// SPDX-License-Identifier: Apache-2.0
// Graph found by a dry run, and the statistics of the program derived from it.
#pragma once

#include <creek/linalg/task_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <vector>

#include <creek/core/work_graph.hpp>

#include "graph/records/block_table.hpp"

namespace creek::linalg::detail {

class graph_profile {
 public:
  void add(const task_info& info, std::span<const operand> operands);
  /// Returns the report; the next add() begins another graph.
  graph_report finish();
  work_graph plan() const;
  void write_dot(std::ostream& to) const;
  void write_json(std::ostream& to) const;

 private:
  /// Number of a task plus one; 0 is no task.
  using node_name = std::uint32_t;
  struct node {
    double flops;
    double finish;  ///< flops of the longest path that ends with this task
    std::size_t first_edge;
    std::uint32_t name;
    std::uint32_t level;
    std::int32_t priority;
    std::uint32_t seen_by;  ///< used while edges are found: the task that depends on it ...
    std::uint32_t seen_at;  ///< ... and the index of that edge
  };
  struct edge {
    std::uint32_t from;
    dependence kind;  ///< the strongest: flow, then output, then anti
  };

  void clear() noexcept;
  /// Returns whether each edge leads from an earlier task of a lower level, so that there is no
  /// cycle, and the sums over the levels and the names are the number of tasks.
  bool verify() const noexcept;
  std::uint32_t name_index(const char* name);
  std::span<const edge> edges_into(std::size_t task) const noexcept;
  void find_edges(std::span<const operand> operands);

  bool finished_ = false;
  block_table<node_name> blocks_;
  std::vector<node> nodes_;
  std::vector<edge> edges_;  ///< grouped by the later task
  std::vector<const char*> name_addresses_;
  std::vector<std::uint32_t> name_of_address_;
  std::vector<task_count> counts_;
  std::vector<std::size_t> width_;  ///< tasks per level
  double critical_path_ = 0;
  double flops_ = 0;
};

}  // namespace creek::linalg::detail

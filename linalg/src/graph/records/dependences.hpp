// SPDX-License-Identifier: Apache-2.0
// Which tasks the task that is being added depends on, and which blocks hold no result because a
// task failed. Used by the enqueuer only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <creek/linalg/task_graph.hpp>

#include "block_table.hpp"
#include "task_links.hpp"
#include "task_records.hpp"

namespace creek::linalg::detail {

/// look_up() comes first for each task; the other functions are about its operands.
class dependences {
 public:
  explicit dependences(task_records& records) noexcept : records_(records) {}

  /// Finds the blocks of the operands, and makes room for the task's edges here and in the records.
  void look_up(std::span<const operand> operands);
  /// Returns whether the task takes turns with others at a block.
  bool commutes() const noexcept { return blocks_.commutes(); }
  /// Returns whether the task reads a block that a failed or dropped task should have written.
  bool reads_spoilt(std::span<const operand> operands) const;
  /// Marks the blocks that the task with this number would have written: it is dropped.
  void spoil(std::span<const operand> operands, std::uint64_t number) noexcept;
  /// Enters the task at its blocks; returns its predecessors, each once.
  std::span<const found_edge> enter(graph_task& task, std::span<const operand> operands) noexcept;
  /// Returns what enter() returned last.
  std::span<const found_edge> found() const noexcept { return found_; }
  void clear() noexcept { blocks_.clear(); }
  std::size_t peak_bytes() const noexcept {
    return blocks_.peak_bytes() + found_.capacity() * sizeof(found_edge);
  }

 private:
  void note(graph_task& task, task_name from, dependence kind, bool affine) noexcept;

  task_records& records_;
  block_table<task_name> blocks_;
  std::vector<found_edge> found_;
};

}  // namespace creek::linalg::detail

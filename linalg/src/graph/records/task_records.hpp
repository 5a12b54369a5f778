// SPDX-License-Identifier: Apache-2.0
// Records of the tasks of a graph: their memory, which ones are in use, and which tasks failed.
// Used by the enqueuer only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <utility>

#include "graph_task.hpp"
#include "recycling_pool.hpp"

namespace creek::linalg::detail {

class task_records {
 public:
  bool has_room() const noexcept { return records_.available() != 0; }
  /// Makes room for one record; returns how many there are then, in use or not.
  std::size_t add_room() {
    records_.reserve(1);
    return records_.capacity();
  }
  void reserve_edges(std::size_t edges) { spare_edges_.reserve(edges); }
  /// The record that the next take() returns; there must be room.
  graph_task& next() const noexcept { return records_.next(); }
  /// Takes a record, for which there must be room, as the newest in use. Fills in nothing.
  graph_task& take() noexcept;
  /// Takes the records of ended tasks back, linked through `next`.
  void recycle(graph_task* ended);

  /// Adds a spare edge to a task; put_edge() takes the last one off again.
  graph_edge* take_edge(graph_task& task) noexcept {
    spare_edge* const edge = spare_edges_.take();
    edge->next_owned = std::exchange(task.spare_edges, edge);
    return edge;
  }
  void put_edge(graph_task& task) noexcept {
    spare_edges_.put(std::exchange(task.spare_edges, task.spare_edges->next_owned));
  }

  bool has_failed(task_name task) const;
  /// Returns whether later tasks may depend on this one, or on its failure.
  bool must_stay(task_name task) const {
    return (task.is_known() && !task.task->has_ended()) || has_failed(task);
  }
  /// Computes the longest paths anew from all edges known now.
  void refresh_paths() noexcept;
  void forget_failures() noexcept { failed_.clear(); }
  std::size_t bytes() const noexcept { return records_.bytes() + spare_edges_.bytes(); }
  /// Returns whether the records in use are linked in the order of add(), each edge leads to a
  /// younger task, so that there is no cycle, and each task waits for at least as many predecessors
  /// as have an edge to it. Tasks may end meanwhile; none may be between its take() and
  /// end_linking(). Counts in `found_at`, so that it needs no memory.
  bool verify() const noexcept;

 private:
  static bool verify_edges(const graph_task& task) noexcept;

  recycling_pool<graph_task, &graph_task::next> records_;
  recycling_pool<spare_edge, &spare_edge::next_owned> spare_edges_;
  /// Numbers of recycled tasks that failed: blocks they should have written hold no result.
  std::unordered_set<std::uint64_t> failed_;
  graph_task* newest_ = nullptr;  ///< end of the list of records in use
};

// Defined here because they run once per task.

inline graph_task& task_records::take() noexcept {
  graph_task& task = *records_.take();
  task.newer = nullptr;
  task.older = std::exchange(newest_, &task);
  if (task.older != nullptr) task.older->newer = &task;
  return task;
}

inline bool task_records::has_failed(task_name task) const {
  if (task == task_name{}) return false;
  if (task.is_known()) return task.task->has_ended() && task.task->failed;
  return !failed_.empty() && failed_.contains(task.number);
}

}  // namespace creek::linalg::detail

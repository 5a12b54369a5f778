// SPDX-License-Identifier: Apache-2.0
// Ready tasks: one heap per worker, for tasks that change blocks it wrote last, one for all others.
// Used under the lock of the graph, so that the choice between the heaps is exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/records/graph_task.hpp"

namespace creek::linalg::detail {

class ready_queues {
 public:
  explicit ready_queues(unsigned workers = 1) { set_workers(workers); }
  /// Sets the number of heaps; must be called while empty.
  void set_workers(unsigned workers);
  /// Reserves room for `tasks` ready tasks: push() does not allocate.
  void reserve(std::size_t tasks);

  void push(graph_task* task) noexcept;
  /// Removes and returns the best task for `worker`, or nullptr if none is ready. Prefers the
  /// worker's own tasks and those without a home, in order. Takes another worker's task if its
  /// priority is larger, or if its remaining path is longer by more than the own task's length:
  /// running it later would delay the whole graph. Without an own task, takes the best one.
  graph_task* pick(unsigned worker) noexcept;
  std::size_t size() const noexcept { return size_; }
  /// Reorders the tasks by their current paths instead of those at their push().
  void refresh() noexcept;
  std::size_t bytes() const noexcept;
  /// Returns whether each heap is in order, the tops and the size agree with the heaps, and no task
  /// waits for a predecessor.
  bool verify() const noexcept;

 private:
  struct item {
    std::uint64_t key;  ///< priority, then path
    std::uint64_t number;
    graph_task* task;
  };
  using heap = std::vector<item>;

  static std::uint64_t key_of(const graph_task& task) noexcept;
  static bool goes_later(const item& a, const item& b) noexcept {
    return a.key != b.key ? a.key < b.key : a.number > b.number;
  }
  graph_task* take_top(std::size_t at) noexcept;
  bool verify_heap(std::size_t at) const noexcept;
  /// Returns the best heap except these two; `heaps_.size()` if all others are empty.
  std::size_t best_of_others(std::size_t own, std::size_t shared) const noexcept;
  bool is_urgent(std::size_t other, std::size_t mine) const noexcept;

  std::vector<heap> heaps_;  ///< one per worker; the last is for tasks without a home
  /// Key of each heap's top, 0 if the heap is empty: scanned by every pick().
  std::vector<std::uint64_t> tops_;
  std::size_t size_ = 0;
};

}  // namespace creek::linalg::detail

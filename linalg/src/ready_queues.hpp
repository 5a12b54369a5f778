// SPDX-License-Identifier: Apache-2.0
// The tasks that may run: a heap a worker, for those that change blocks it wrote last, and one for
// all others. Under the lock of the graph, so that the choice between the heaps is exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph_task.hpp"

namespace creek::linalg::detail {

class ready_queues {
 public:
  explicit ready_queues(unsigned workers = 1) { set_workers(workers); }
  /// While empty.
  void set_workers(unsigned workers);
  /// So many tasks may be ready at once: push() does not allocate.
  void reserve(std::size_t tasks);

  void push(graph_task* task) noexcept;
  /// The best task for `worker`, null if none is ready. Its own and those without a home in order;
  /// another worker's if its priority is larger, or if its remaining path is longer by more than
  /// the own task takes: the whole would be late if that were run first. Without one of its own,
  /// the best there is.
  graph_task* pick(unsigned worker) noexcept;
  std::size_t size() const noexcept { return size_; }
  /// Takes the tasks' present paths for those that were read at their push().
  void refresh() noexcept;
  std::size_t bytes() const noexcept;

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
  /// The best heap but for two; `heaps_.size()` if all are empty.
  std::size_t best_of_others(std::size_t own, std::size_t shared) const noexcept;
  bool is_urgent(std::size_t other, std::size_t mine) const noexcept;

  std::vector<heap> heaps_;  ///< one a worker, and the last for tasks without a home
  /// Key of each heap's top, 0 if it is empty: looked through at every pick.
  std::vector<std::uint64_t> tops_;
  std::size_t size_ = 0;
};

}  // namespace creek::linalg::detail

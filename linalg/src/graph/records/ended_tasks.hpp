// SPDX-License-Identifier: Apache-2.0
// Records of ended tasks on their way back to the enqueuer.
#pragma once

#include <atomic>

#include <creek/core/threads/sanitizer.hpp>

#include "graph_task.hpp"

namespace creek::linalg::detail {

/// A list that any thread pushes to. Only one thread takes, and it takes all at once: so a record
/// cannot leave and return between two steps of a push.
class ended_tasks {
 public:
  void push(graph_task& task) noexcept {
    graph_task* first = first_.load(std::memory_order_relaxed);
    do {
      task.next = first;
      sanitizer::releases(&first_);
    } while (!first_.compare_exchange_weak(first, &task, std::memory_order_release,
                                           std::memory_order_relaxed));
  }
  /// Returns the records in no order, linked through `next`.
  [[nodiscard]] graph_task* take_all() noexcept {
    graph_task* const all = first_.exchange(nullptr, std::memory_order_acquire);
    sanitizer::acquired(&first_);
    return all;
  }

 private:
  std::atomic<graph_task*> first_{nullptr};
};

}  // namespace creek::linalg::detail

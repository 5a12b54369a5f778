// SPDX-License-Identifier: Apache-2.0
// LAPACK's info of an operation whose tasks are in a graph.
#pragma once

#include <atomic>

#include <creek/linalg/matrix.hpp>

namespace creek::linalg {

/// The smallest 1-based index that a task of the operation reported, or 0. Read it after the
/// graph's wait() has returned, and keep it alive until then. Each operation needs its own.
class graph_info {
 public:
  graph_info() = default;
  graph_info(const graph_info&) = delete;
  graph_info& operator=(const graph_info&) = delete;

  index_t value() const noexcept { return place_.load(std::memory_order_acquire); }

  /// Called by a task that found a zero at the 1-based index `place`; 0 reports nothing.
  void report(index_t place) noexcept {
    if (place == 0) return;
    index_t known = place_.load(std::memory_order_relaxed);
    while ((known == 0 || place < known) &&
           !place_.compare_exchange_weak(known, place, std::memory_order_release,
                                         std::memory_order_relaxed)) {
    }
  }

 private:
  std::atomic<index_t> place_{0};
};

}  // namespace creek::linalg

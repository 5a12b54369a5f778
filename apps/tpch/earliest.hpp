// SPDX-License-Identifier: Apache-2.0
// The first of several faults, whichever task finds which.
#pragma once

#include <atomic>
#include <cstddef>

namespace creek::tpch {

/// The least of the numbers that tasks report. The numbered items are read in that order, so that
/// all before the least are always read, and the least is the same however the work was divided.
class earliest {
 public:
  explicit earliest(std::size_t none) : least_(none) {}

  /// Any thread. The caller publishes what goes with `i` by other means, as the join of the tasks.
  void report(std::size_t i) noexcept {
    std::size_t least = least_.load(std::memory_order_relaxed);
    while (i < least && !least_.compare_exchange_weak(least, i, std::memory_order_relaxed)) {
    }
  }
  /// `none` if nothing was reported. Any thread.
  [[nodiscard]] std::size_t get() const noexcept { return least_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> least_;
};

}  // namespace creek::tpch

// SPDX-License-Identifier: Apache-2.0
// Finds the first of several faults, whichever task finds which.
#pragma once

#include <atomic>
#include <cstddef>

namespace creek::tpch {

/// The smallest number that tasks report. Numbered items are read in ascending order, so that all
/// before the smallest are always read, and it is the same however the work was divided.
class earliest {
 public:
  explicit earliest(std::size_t none) : least_(none) {}

  /// Reports `i`. Any thread. Data that belongs to `i` is published by other means, as by a join.
  void report(std::size_t i) noexcept {
    std::size_t least = least_.load(std::memory_order_relaxed);
    while (i < least && !least_.compare_exchange_weak(least, i, std::memory_order_relaxed)) {
    }
  }
  /// Returns the smallest number, or `none` if nothing was reported. Any thread.
  [[nodiscard]] std::size_t get() const noexcept { return least_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> least_;
};

}  // namespace creek::tpch

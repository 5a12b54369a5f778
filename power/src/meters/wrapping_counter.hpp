// SPDX-License-Identifier: Apache-2.0
// Counter that wraps to 0 after its largest value and is read now and then: tracks its total, or
// reports why the total cannot be known.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace creek::power::detail {

class wrapping_counter {
 public:
  using clock = std::chrono::steady_clock;

  /// Values are in microjoules. `largest` 0: unknown, so it must not wrap. `max_watts`: an upper
  /// limit of the draw, to distinguish wraps that must have been seen from those possibly missed.
  wrapping_counter(std::uint64_t first, std::uint64_t largest, double max_watts,
                   clock::time_point now) noexcept
      : last_(first), largest_(largest), max_watts_(max_watts), at_(now) {}

  /// Adds a new value; returns what is wrong with it, or an empty string.
  [[nodiscard]] std::string advance(std::uint64_t value, clock::time_point now);

  /// Returns the total since construction.
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }

 private:
  std::uint64_t last_;
  std::uint64_t largest_;
  double max_watts_;
  clock::time_point at_;
  std::uint64_t total_ = 0;
};

}  // namespace creek::power::detail

// SPDX-License-Identifier: Apache-2.0
// A counter that begins again at 0 after its largest value, read now and then: how far it has come
// in all, or why that cannot be known.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace creek::power::detail {

class wrapping_counter {
 public:
  using clock = std::chrono::steady_clock;

  /// Microjoules. `largest` 0: unknown, so that it may not wrap. `most_watts`: no domain like it
  /// draws more, which tells wraps that must have been seen from those that may have been missed.
  wrapping_counter(std::uint64_t first, std::uint64_t largest, double most_watts,
                   clock::time_point now) noexcept
      : last_(first), largest_(largest), most_watts_(most_watts), at_(now) {}

  /// Takes a new value in; returns what is wrong with it, else nothing.
  [[nodiscard]] std::string advance(std::uint64_t value, clock::time_point now);

  /// Since construction.
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }

 private:
  std::uint64_t last_;
  std::uint64_t largest_;
  double most_watts_;
  clock::time_point at_;
  std::uint64_t total_ = 0;
};

}  // namespace creek::power::detail

// SPDX-License-Identifier: Apache-2.0
// Random numbers as a function of a seed and a position, readable in any order.
#pragma once

#include <cstdint>

namespace creek::linalg::detail {

/// Stream of SplitMix64, seeded with a hash of (seed, stream), readable at any
/// position.
/// Source: [Steele 2014].
class counter_hash {
 public:
  counter_hash(std::uint64_t seed, std::uint64_t stream) noexcept
      : start_(mix(mix(seed + golden) + stream * golden)) {}

  std::uint64_t bits(std::uint64_t position) const noexcept {
    return mix(start_ + (position + 1) * golden);
  }
  /// Returns a number uniform in [-1, 1); exact in float too if Real is float.
  template <class Real>
  Real uniform(std::uint64_t position) const noexcept {
    const auto drawn = static_cast<std::int64_t>(bits(position));
    if constexpr (sizeof(Real) == 4) {
      return static_cast<Real>(drawn >> 40) * Real(0x1p-23);
    } else {
      return static_cast<Real>(drawn >> 11) * Real(0x1p-52);
    }
  }

 private:
  static constexpr std::uint64_t golden = 0x9E3779B97F4A7C15ull;
  static constexpr std::uint64_t mix(std::uint64_t z) noexcept {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }

  std::uint64_t start_;
};

}  // namespace creek::linalg::detail

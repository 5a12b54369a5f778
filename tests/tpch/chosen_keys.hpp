// SPDX-License-Identifier: Apache-2.0
// Keys chosen so that a hash with fixed numbers gives all of them one slot (hash flooding).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tpch/operators/key_hash.hpp"

namespace creek::tpch::testing {

/// Keys in ascending order from 0 on.
struct chosen_keys {
  std::string name;
  std::vector<std::int64_t> keys;
};

/// Returns the inverse of an odd number modulo 2^64 (Newton).
constexpr std::uint64_t inverse(std::uint64_t odd) noexcept {
  std::uint64_t x = odd;
  for (int i = 0; i < 6; ++i) x *= 2 - odd * x;
  return x;
}

/// Returns key sets that a multiplication by 2^64 / golden ratio, or hash_key() with the fixed
/// secret, maps to few slots, and multiples of numbers, which also occur without malice.
inline std::vector<chosen_keys> chosen_key_sets(std::size_t count) {
  constexpr std::uint64_t golden = fixed_hash_factors.low;
  std::vector<chosen_keys> sets;
  const auto add = [&](std::string name, auto&& nth) {
    std::vector<std::int64_t> keys{0};
    for (std::uint64_t i = 1; keys.size() < count; ++i) {
      const auto key = static_cast<std::int64_t>(nth(i));
      if (key > 0) keys.push_back(key);
    }
    std::ranges::sort(keys);
    sets.push_back({std::move(name), std::move(keys)});
  };
  add("multiples of the inverse factor", [](std::uint64_t i) { return i * inverse(golden); });
  // The hash with the fixed secret is below 2^54: that holds for one key in 1024.
  std::uint64_t next = 0;
  add("keys of small hashes without a secret", [&next](std::uint64_t) {
    const auto& by = fixed_hash_factors;
    for (;;) {
      const std::uint64_t key = ++next << 20;
      if (multiply_and_fold(key ^ by.low, by.high) * golden >> 54 == 0) {
        return key;
      }
    }
  });
  for (const std::uint64_t step : {1'000'003ull, 1ull << 32, 1ull << 40, 3ull << 40}) {
    add("multiples of " + std::to_string(step), [step](std::uint64_t i) { return i * step; });
  }
  return sets;
}

}  // namespace creek::tpch::testing

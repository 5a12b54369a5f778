// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench::sum_by_key {

struct key_value {
  std::uint64_t key;
  std::uint64_t value;
};

/// SplitMix64 [Steele 2014] of a number.
constexpr std::uint64_t mixed(std::uint64_t z) {
  z *= 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// Returns pairs with `keys` different keys, which are spread over 63 bits and come in no order.
inline std::vector<key_value> pairs_of(std::size_t count, std::uint64_t keys) {
  std::vector<key_value> pairs(count);
  for (std::size_t i = 0; i < count; ++i) {
    pairs[i] = {mixed(mixed(i + 1) % keys + 1) >> 1, i % 1000};
  }
  return pairs;
}

}  // namespace bench::sum_by_key

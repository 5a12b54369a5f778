// SPDX-License-Identifier: Apache-2.0
// Adds up the values of pairs by key: 16 million pairs (fewer for `smoke`) with n different keys,
// which are spread over 63 bits and come in no order. The result is in memory, in no order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/key_digest.hpp"
#include "harness/workload.hpp"

namespace bench::sum_by_key {

inline constexpr description what{.name = "sum_by_key",
                                  .about = "pairs of 16 bytes added up by key; n: different keys",
                                  .unit = "M pairs/s",
                                  .full = {100, 100'000, 10'000'000},
                                  .quick = {100, 100'000},
                                  .smoke = 1000,
                                  .rate = true,
                                  .scale = 1e3,
                                  .groups = "jobs"};

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

inline std::vector<key_value> pairs_of(const settings& s) {
  const auto keys = static_cast<std::uint64_t>(s.n);
  std::vector<key_value> pairs(keys == 1000 ? 100'000 : 16'000'000);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    pairs[i] = {mixed(mixed(i + 1) % keys + 1) >> 1, i % 1000};
  }
  return pairs;
}

/// The number of a key in the answer.
constexpr std::uint64_t number_of(std::uint64_t key) {
  return key % 1024;
}

}  // namespace bench::sum_by_key

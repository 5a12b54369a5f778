// SPDX-License-Identifier: Apache-2.0
// Pairs of 16 bytes brought together by key and added up: the strategy that emits and groups, and
// what one writes without it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "loops.hpp"

namespace creek_bench {

struct key_value {
  std::uint64_t key;
  std::uint64_t value;
};

/// Emits every pair as it is, and adds up.
struct sum_by_key {
  using key_type = std::uint64_t;
  using value_type = std::uint64_t;
  template <class Emit>
  static void map(std::span<const key_value> pairs, Emit& emit) {
    for (const key_value& pair : pairs) emit(pair.key, pair.value);
  }
  static void combine(std::uint64_t& into, std::uint64_t from) { into += from; }
};

/// Uniform over `keys` keys that are spread over 64 bits.
std::vector<key_value> random_pairs(std::size_t count, std::size_t keys);

/// How many keys, and what depends on every sum.
class pair_digest {
 public:
  void add(std::uint64_t key, std::uint64_t sum) noexcept {
    ++keys_;
    mixed_ += (key >> 20) * sum;
  }
  [[nodiscard]] answer numbers() const {
    return {static_cast<double>(keys_), static_cast<double>(mixed_ >> 12)};
  }

 private:
  std::uint64_t keys_ = 0, mixed_ = 0;
};

/// A copy sorted by std::sort, and one pass over it; one thread.
answer sums_by_sorting(std::span<const key_value> pairs);
/// std::unordered_map; one thread.
answer sums_by_hash_map(std::span<const key_value> pairs);

}  // namespace creek_bench

// SPDX-License-Identifier: Apache-2.0
// Pairs of 16 bytes grouped by key and added up: by the strategy that emits and groups, and by
// hand-written code without it.
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

/// Emits every pair unchanged, and adds up the values.
struct sum_by_key {
  using key_type = std::uint64_t;
  using value_type = std::uint64_t;
  template <class Emit>
  static void map(std::span<const key_value> pairs, Emit& emit) {
    for (const key_value& pair : pairs) emit(pair.key, pair.value);
  }
  static void combine(std::uint64_t& into, std::uint64_t from) { into += from; }
};

/// Returns pairs, uniform over `keys` keys that are spread over 64 bits.
std::vector<key_value> random_pairs(std::size_t count, std::size_t keys);

/// The number of keys, and a value that depends on every sum.
class pair_digest {
 public:
  void add(std::uint64_t key, std::uint64_t sum) noexcept {
    ++keys_;
    mixed_ += (key >> 20) * sum;
  }
  void add(const pair_digest& other) noexcept {
    keys_ += other.keys_;
    mixed_ += other.mixed_;
  }
  [[nodiscard]] answer numbers() const {
    return {static_cast<double>(keys_), static_cast<double>(mixed_ >> 12)};
  }

 private:
  std::uint64_t keys_ = 0, mixed_ = 0;
};

/// Sorts a copy by std::sort and makes one pass over it; one thread.
answer sums_by_sorting(std::span<const key_value> pairs);
/// Adds up in a std::unordered_map per thread and part of the keys, then each thread merges a part.
answer sums_by_hash_maps(std::span<const key_value> pairs, unsigned threads);

}  // namespace creek_bench

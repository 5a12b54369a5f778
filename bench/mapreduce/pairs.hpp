// SPDX-License-Identifier: Apache-2.0
// Pairs of integers that are added up by key, to compare the strategies.
#pragma once

#include <cstdint>
#include <span>

namespace creek_bench {

struct key_value {
  std::uint64_t key;
  std::uint64_t value;
};

struct sum_by_key {
  using key_type = std::uint64_t;
  using value_type = std::uint64_t;
  template <class Emit>
  static void map(std::span<const key_value> pairs, Emit& emit) {
    for (const key_value& pair : pairs) emit(pair.key, pair.value);
  }
  static void combine(std::uint64_t& into, std::uint64_t from) { into += from; }
};

}  // namespace creek_bench

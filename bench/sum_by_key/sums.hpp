// SPDX-License-Identifier: Apache-2.0
// The jobs as a user writes them.
#pragma once
#include <cstdint>
#include <span>

#include "pairs.hpp"

namespace bench::sum_by_key {

struct sums {
  using key_type = std::uint64_t;
  using value_type = std::uint64_t;
  template <class Emit>
  static void map(std::span<const key_value> pairs, Emit& emit) {
    for (const key_value& pair : pairs) emit(pair.key, pair.value);
  }
  static void combine(std::uint64_t& into, std::uint64_t from) { into += from; }
};

struct distinct_keys {
  using key_type = std::uint64_t;
  struct value_type {};
  template <class Emit>
  static void map(std::span<const key_value> pairs, Emit& emit) {
    for (const key_value& pair : pairs) emit(pair.key, value_type());
  }
  static void combine(value_type&, value_type) {}
};

}  // namespace bench::sum_by_key

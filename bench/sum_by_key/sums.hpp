// SPDX-License-Identifier: Apache-2.0
// The job as a user writes it.
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

}  // namespace bench::sum_by_key

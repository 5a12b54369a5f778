// SPDX-License-Identifier: Apache-2.0
// Adds up the values of pairs by key, or finds the different keys: 16 million pairs, or 100 million
// (100 000 if n is 1000), with n different keys, which are spread over 63 bits and come in no
// order. The result is in memory, in no order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/key_digest.hpp"
#include "harness/workload.hpp"
#include "pairs.hpp"

namespace bench::sum_by_key {

inline constexpr description what{.name = "sum_by_key",
                                  .about = "pairs of 16 bytes added up by key; n: different keys",
                                  .unit = "M pairs/s",
                                  .full = {100, 100'000, 10'000'000},
                                  .quick = {100, 100'000},
                                  .smoke = 1000,
                                  .rate = true,
                                  .scale = 1e3,
                                  .groups = "mapreduce"};

inline constexpr description distinct =
    like(what, "distinct_keys", "the different keys of pairs of 16 bytes; n of them");

inline constexpr description large = [] {
  description d = like(what, "sum_by_key_large", "100 million pairs of 16 bytes added up by key");
  d.quick = std::initializer_list<std::int64_t>{};  // not in a quick look
  return d;
}();

inline std::vector<key_value> pairs_of(const settings& s) {
  const auto keys = static_cast<std::uint64_t>(s.n);
  const std::size_t many = s.workload == large.name ? 100'000'000 : 16'000'000;
  return pairs_of(keys == 1000 ? 100'000 : many, keys);
}

/// The number of a key in the answer.
constexpr std::uint64_t number_of(std::uint64_t key) {
  return key % 1024;
}

}  // namespace bench::sum_by_key

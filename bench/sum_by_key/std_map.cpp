// SPDX-License-Identifier: Apache-2.0
// Sums by key in a std::unordered_map per thread and part of the keys.
#include "config.hpp"
#include "harness/hash_maps.hpp"

namespace bench::sum_by_key {
namespace {

sample measure(const settings& s) {
  const std::vector<key_value> pairs = pairs_of(s);
  sample result = sums_by_hash_maps<std::uint64_t>(
      s.workers,
      [&](unsigned self, auto&& add) {
        const std::size_t begin = pairs.size() * self / s.workers;
        const std::size_t end = pairs.size() * (self + 1) / s.workers;
        for (std::size_t i = begin; i < end; ++i) add(pairs[i].key, pairs[i].value);
      },
      number_of);
  result.work = static_cast<double>(pairs.size());
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::sum_by_key

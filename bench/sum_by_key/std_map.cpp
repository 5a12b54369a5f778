// SPDX-License-Identifier: Apache-2.0
// Sums by key, and the different keys, in a std::unordered_map per thread and part of the keys.
#include <span>

#include "config.hpp"
#include "harness/hash_maps.hpp"

namespace bench::sum_by_key {
namespace {

std::span<const key_value> part_of(std::span<const key_value> pairs, const settings& s,
                                   unsigned self) {
  const std::size_t begin = pairs.size() * self / s.workers;
  return pairs.subspan(begin, pairs.size() * (self + 1) / s.workers - begin);
}

sample add_up(const settings& s) {
  const std::vector<key_value> pairs = pairs_of(s);
  sample result = sums_by_hash_maps<std::uint64_t>(
      s.workers,
      [&](unsigned self, auto&& add) {
        for (const auto& [key, value] : part_of(pairs, s, self)) add(key, value);
      },
      number_of);
  result.work = static_cast<double>(pairs.size());
  return result;
}

sample find_keys(const settings& s) {
  struct nothing {};
  const std::vector<key_value> pairs = pairs_of(s);
  key_digest digest;
  sample result{.work = static_cast<double>(pairs.size())};
  result.total_ns = group_by_hash_maps<std::uint64_t, nothing>(
      s.workers,
      [&](unsigned self, auto&& value_of) {
        for (const auto& [key, value] : part_of(pairs, s, self)) value_of(key);
      },
      [](nothing, nothing) {}, [&](std::uint64_t key, nothing) { digest.add(number_of(key), 1); });
  result.answer = digest.answer();
  return result;
}

const registration adds_up{what, add_up};
const registration adds_many{large, add_up};
const registration finds_keys{distinct, find_keys};

}  // namespace
}  // namespace bench::sum_by_key

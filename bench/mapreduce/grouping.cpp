// SPDX-License-Identifier: Apache-2.0
#include "grouping.hpp"

#include <algorithm>
#include <random>

#include "hash_maps.hpp"

namespace creek_bench {

std::vector<key_value> random_pairs(std::size_t count, std::size_t keys) {
  std::mt19937_64 random(1);
  std::vector<key_value> pairs(count);
  for (key_value& pair : pairs) pair = {random() % keys * 0x9E3779B97F4A7C15ull, random() % 1000};
  return pairs;
}

answer sums_by_sorting(std::span<const key_value> pairs) {
  std::vector<key_value> sorted(pairs.begin(), pairs.end());
  std::ranges::sort(sorted, {}, &key_value::key);
  pair_digest digest;
  for (std::size_t from = 0, to = 0; from < sorted.size(); from = to) {
    std::uint64_t sum = 0;
    for (; to < sorted.size() && sorted[to].key == sorted[from].key; ++to) sum += sorted[to].value;
    digest.add(sorted[from].key, sum);
  }
  return digest.numbers();
}

answer sums_by_hash_maps(std::span<const key_value> pairs, unsigned threads) {
  const auto add_share = [&](unsigned self, auto&& add) {
    const std::size_t begin = pairs.size() * self / threads;
    const std::size_t end = pairs.size() * (self + 1) / threads;
    for (const key_value& pair : pairs.subspan(begin, end - begin)) add(pair.key, pair.value);
  };
  return sums_by_hash_maps_of<std::uint64_t>(threads, add_share,
                                             [](std::uint64_t key) { return key; });
}

}  // namespace creek_bench

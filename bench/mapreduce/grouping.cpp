// SPDX-License-Identifier: Apache-2.0
#include "grouping.hpp"

#include <algorithm>
#include <random>
#include <thread>
#include <unordered_map>

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
  using map = std::unordered_map<std::uint64_t, std::uint64_t>;
  std::vector<std::vector<map>> all(threads, std::vector<map>(threads));
  const auto on_threads = [&](auto&& f) {
    std::vector<std::jthread> running;
    for (unsigned i = 1; i < threads; ++i) running.emplace_back([&f, i] { f(i); });
    f(0u);
  };
  on_threads([&](unsigned self) {
    const std::size_t begin = pairs.size() * self / threads;
    const std::size_t end = pairs.size() * (self + 1) / threads;
    for (const key_value& pair : pairs.subspan(begin, end - begin)) {
      all[self][(pair.key >> 40) % threads][pair.key] += pair.value;
    }
  });
  std::vector<pair_digest> digests(threads);
  on_threads([&](unsigned part) {
    for (unsigned other = 1; other < threads; ++other) {
      for (const auto& [key, sum] : all[other][part]) all[0][part][key] += sum;
    }
    for (const auto& [key, sum] : all[0][part]) digests[part].add(key, sum);
  });
  for (unsigned part = 1; part < threads; ++part) digests[0].add(digests[part]);
  return digests[0].numbers();
}

}  // namespace creek_bench

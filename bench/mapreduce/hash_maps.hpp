// SPDX-License-Identifier: Apache-2.0
// The standard library's way to add up by key: a std::unordered_map per thread and part of the
// keys, then each thread merges a part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "grouping.hpp"

namespace creek_bench {

/// Calls `add_all(thread, add)` on each thread, which calls `add(key, value)`. `number` makes the
/// number of a key that its digest depends on.
template <class Key, class AddAll, class Number>
answer sums_by_hash_maps_of(unsigned threads, AddAll&& add_all, Number&& number) {
  using map = std::unordered_map<Key, std::uint64_t>;
  std::vector<std::vector<map>> all(threads, std::vector<map>(threads));
  std::vector<pair_digest> digests(threads);
  const auto on_threads = [&](auto&& f) {
    std::vector<std::jthread> running;
    for (unsigned i = 1; i < threads; ++i) running.emplace_back([&f, i] { f(i); });
    f(0u);
  };
  on_threads([&](unsigned self) {
    add_all(self, [&](const Key& key, std::uint64_t value) {
      all[self][(number(key) >> 40) % threads][key] += value;
    });
  });
  on_threads([&](unsigned part) {
    for (unsigned other = 1; other < threads; ++other) {
      for (const auto& [key, sum] : all[other][part]) all[0][part][key] += sum;
    }
    for (const auto& [key, sum] : all[0][part]) digests[part].add(number(key), sum);
  });
  for (unsigned part = 1; part < threads; ++part) digests[0].add(digests[part]);
  return digests[0].numbers();
}

}  // namespace creek_bench

// SPDX-License-Identifier: Apache-2.0
// The standard library's way to add up by key: a std::unordered_map per thread and part of the
// keys, then each thread merges a part.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "key_digest.hpp"
#include "threads.hpp"
#include "workload.hpp"

namespace bench {

/// Calls `add_all(thread, add)` on each thread, which calls `add(key, 1 or more)`. `number` makes
/// the number of a key that its digest depends on; only adding and merging are timed.
template <class Key, class AddAll, class Number>
sample sums_by_hash_maps(unsigned threads, const AddAll& add_all, const Number& number) {
  using map = std::unordered_map<Key, std::uint64_t>;
  std::vector<std::vector<map>> all(threads, std::vector<map>(threads));
  double ns = time_threads(threads, [&](unsigned self) {
    add_all(self, [&](const Key& key, std::uint64_t value) {
      all[self][(std::hash<Key>{}(key)*0x9E3779B97F4A7C15u >> 32) % threads][key] += value;
    });
  });
  ns += time_threads(threads, [&](unsigned part) {
    for (unsigned other = 1; other < threads; ++other) {
      for (const auto& [key, sum] : all[other][part]) all[0][part][key] += sum;
    }
  });
  key_digest digest;
  for (const map& part : all[0]) {
    for (const auto& [key, sum] : part) digest.add(number(key), sum);
  }
  return {.total_ns = ns, .answer = digest.answer()};
}

}  // namespace bench

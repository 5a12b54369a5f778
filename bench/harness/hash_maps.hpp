// SPDX-License-Identifier: Apache-2.0
// The standard library's way to group by key: a std::unordered_map per thread and part of the keys,
// then each thread merges a part.
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

/// Calls `fill(thread, value_of)` on each thread, which calls `value_of(key)` for the value to
/// change; then `merge(into, from)` for the values of a key from two threads. Only that is timed.
/// `digest(key, value)` adds a group to the answer.
template <class Key, class Value, class Fill, class Merge, class Digest>
double group_by_hash_maps(unsigned threads, const Fill& fill, const Merge& merge,
                          const Digest& digest) {
  using map = std::unordered_map<Key, Value>;
  std::vector<std::vector<map>> all(threads, std::vector<map>(threads));
  double ns = time_threads(threads, [&](unsigned self) {
    fill(self, [&](const Key& key) -> Value& {
      return all[self][(std::hash<Key>{}(key)*0x9E3779B97F4A7C15u >> 32) % threads][key];
    });
  });
  ns += time_threads(threads, [&](unsigned part) {
    for (unsigned other = 1; other < threads; ++other) {
      for (auto& [key, value] : all[other][part]) merge(all[0][part][key], value);
    }
  });
  for (const map& part : all[0]) {
    for (const auto& [key, value] : part) digest(key, value);
  }
  return ns;
}

/// Same for sums: `add_all(thread, add)` calls `add(key, 1 or more)`. `number` makes the number of
/// a key that its digest depends on.
template <class Key, class AddAll, class Number>
sample sums_by_hash_maps(unsigned threads, const AddAll& add_all, const Number& number) {
  key_digest digest;
  const double ns = group_by_hash_maps<Key, std::uint64_t>(
      threads,
      [&](unsigned self, auto&& value_of) {
        add_all(self, [&](const Key& key, std::uint64_t value) { value_of(key) += value; });
      },
      [](std::uint64_t& into, std::uint64_t from) { into += from; },
      [&](const Key& key, std::uint64_t sum) { digest.add(number(key), sum); });
  return {.total_ns = ns, .answer = digest.answer()};
}

}  // namespace bench

// SPDX-License-Identifier: Apache-2.0
// oneTBB's concurrent_hash_map, one accessor per update, from threads of the standard library.
#include <oneapi/tbb/concurrent_hash_map.h>

#include "config.hpp"
#include "harness/threads.hpp"

namespace bench::hash_update {
namespace {

struct compare {
  static std::size_t hash(key k) { return key_hash{}(k); }
  static bool equal(key a, key b) { return a == b; }
};
using table = tbb::concurrent_hash_map<key, std::uint64_t, compare>;

sample measure(const settings& s) {
  const std::vector<key>& keys = drawn_keys(s.n);
  table map;
  for (std::size_t rank = 0; rank < key_count; ++rank) map.emplace(key_at(rank), 0);
  sample result{.work = static_cast<double>(s.n)};
  result.total_ns = time_threads(s.workers, [&](unsigned w) {
    for (const key each : keys_of(s, keys, w)) {
      table::accessor entry;
      map.insert(entry, each);
      ++entry->second;
    }
  });
  for (const auto& [k, updates] : map) result.answer += weigh(k, updates);
  return result;
}

const registration by_one{one, measure};
const registration by_many{many, measure};

}  // namespace
}  // namespace bench::hash_update

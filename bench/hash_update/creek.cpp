// SPDX-License-Identifier: Apache-2.0
// The distributed table of apps/examples/hash_table, one shard per worker: each update is posted
// alone, or a batch is sent together. Each worker waits for its own updates at the end.
#include "config.hpp"
#include "harness/creek_runtime.hpp"
#include "hash_table/distributed_map.hpp"

namespace bench::hash_update {
namespace {

using table = creek::hash_table::distributed_map<key, std::uint64_t>;

constexpr auto add = [](std::uint64_t& value) { ++value; };

void post_each(const table& map, std::span<const key> keys) {
  for (const key each : keys) map.post_update(each, add);
}
void post_batches(const table& map, std::span<const key> keys) {
  in_batches(keys, [&](std::span<const key> some) { map.post_update_all(some, add); });
}

template <auto Post>
sample measure(const settings& s) {
  const std::vector<key>& keys = drawn_keys(s.n);
  sample result{.work = static_cast<double>(s.n)};
  inside(s, [&] {
    const table map;
    for (std::size_t rank = 0; rank < key_count; ++rank) map.post_put(key_at(rank), 0);
    map.barrier();
    result.total_ns = time_workers(s, [&](unsigned w) {
      Post(map, keys_of(s, keys, w));
      map.barrier();
    });
    for (const auto& [k, updates] : map.gather()) result.answer += weigh(k, updates);
  });
  return result;
}

const registration by_one{one, measure<post_each>};
const registration by_many{many, measure<post_batches>};

}  // namespace
}  // namespace bench::hash_update

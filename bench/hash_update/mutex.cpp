// SPDX-License-Identifier: Apache-2.0
// std::unordered_map in 64 parts, each under its own std::mutex. The keys of a batch of 256 that
// belong to one part are updated under one lock.
#include <array>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "config.hpp"
#include "harness/threads.hpp"

namespace bench::hash_update {
namespace {

class table {
 public:
  void update(key k) {
    part& here = parts_[part_of(k)];
    const std::lock_guard hold(here.lock);
    ++here.entries[k];
  }
  void update(std::span<const key> keys) {
    std::array<std::array<key, batch>, part_count> sorted;
    std::array<std::size_t, part_count> count{};
    for (const key each : keys) {
      const std::size_t p = part_of(each);
      sorted[p][count[p]++] = each;
    }
    for (std::size_t p = 0; p < part_count; ++p) {
      if (count[p] == 0) continue;
      const std::lock_guard hold(parts_[p].lock);
      for (std::size_t i = 0; i < count[p]; ++i) ++parts_[p].entries[sorted[p][i]];
    }
  }
  std::uint64_t& operator[](key k) { return parts_[part_of(k)].entries[k]; }

 private:
  struct alignas(64) part {
    std::mutex lock;
    std::unordered_map<key, std::uint64_t, key_hash> entries;
  };
  static std::size_t part_of(key k) { return key_hash{}(k) >> 58; }
  static constexpr std::size_t part_count = 64;  // by the upper 6 bits of the hash
  std::array<part, part_count> parts_;
};

void update_each(table& map, std::span<const key> keys) {
  for (const key each : keys) map.update(each);
}
void update_batches(table& map, std::span<const key> keys) {
  in_batches(keys, [&](std::span<const key> some) { map.update(some); });
}

template <auto Update>
sample measure(const settings& s) {
  const std::vector<key>& keys = drawn_keys(s.n);
  const auto map = std::make_unique<table>();
  for (std::size_t rank = 0; rank < key_count; ++rank) (*map)[key_at(rank)] = 0;
  sample result{.work = static_cast<double>(s.n)};
  result.total_ns = time_threads(s.workers, [&](unsigned w) { Update(*map, keys_of(s, keys, w)); });
  for (std::size_t rank = 0; rank < key_count; ++rank) {
    result.answer += weigh(key_at(rank), (*map)[key_at(rank)]);
  }
  return result;
}

const registration by_one{one, measure<update_each>};
const registration by_many{many, measure<update_batches>};

}  // namespace
}  // namespace bench::hash_update

// SPDX-License-Identifier: Apache-2.0
// All workers update the entries of one hash table of 100,000 keys, n updates together: each adds 1
// to the value of a key. Keys are drawn by Zipf's law with s = 0.99 (the k-th most frequent with a
// probability proportional to 1 / k^0.99: the first is one update in 12), from a seed, before the
// timed part; the table has all keys by then. In `hash_update_256` a worker has a batch of 256 keys
// at a time, which a table may make use of.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "harness/invoked.hpp"

namespace bench::hash_update {

inline constexpr description one{.name = "hash_update",
                                 .about = "add 1 to a key's value; keys by Zipf, s = 0.99",
                                 .unit = "ns/update",
                                 .full = 2'000'000,
                                 .quick = 400'000,
                                 .smoke = 2000,
                                 .groups = "invoke"};
inline constexpr description many{.name = "hash_update_256",
                                  .about = "the same, 256 keys at hand at a time",
                                  .unit = "ns/update",
                                  .full = 4'000'000,
                                  .quick = 800'000,
                                  .smoke = 2000,
                                  .groups = "invoke"};

using key = std::uint64_t;
constexpr std::size_t key_count = 100'000;
constexpr std::size_t batch = 256;

/// Spreads all bits over all bits; SplitMix64 [Steele 2014].
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}
struct key_hash {
  std::size_t operator()(key k) const { return mix(k); }
};

/// Returns the k-th most frequent key; a key does not reveal its frequency.
constexpr key key_at(std::size_t rank) {
  return mix(rank);
}

/// Returns the keys of all updates, the same for all peers.
inline const std::vector<key>& drawn_keys(std::int64_t n) {
  static std::vector<key> drawn;  // kept for the next run of this process
  if (drawn.size() == static_cast<std::size_t>(n)) return drawn;
  std::vector<double> below(key_count);  // sums of the weights
  double sum = 0;
  for (std::size_t rank = 0; rank < key_count; ++rank) {
    below[rank] = sum += std::pow(static_cast<double>(rank + 1), -0.99);
  }
  drawn.clear();
  for (std::int64_t i = 0; i < n; ++i) {
    const double at =
        static_cast<double>(mix(~static_cast<std::uint64_t>(i)) >> 11) * 0x1p-53 * sum;
    const auto found = std::upper_bound(below.begin(), below.end() - 1, at);
    drawn.push_back(key_at(static_cast<std::size_t>(found - below.begin())));
  }
  return drawn;
}

/// Returns the keys of one worker.
inline std::span<const key> keys_of(const settings& s, std::span<const key> all, unsigned worker) {
  const part_of_work mine = part_of(s, worker);
  return all.subspan(static_cast<std::size_t>(mine.first),
                     static_cast<std::size_t>(mine.last - mine.first));
}

/// Calls `f` with the next 256 keys, and with what is left at the end.
template <class F>
void in_batches(std::span<const key> keys, const F& f) {
  for (; !keys.empty(); keys = keys.subspan(std::min(batch, keys.size()))) {
    f(keys.first(std::min(batch, keys.size())));
  }
}

/// Returns the contribution of an entry to the answer.
constexpr std::uint64_t weigh(key k, std::uint64_t updates) {
  return k * updates;
}

}  // namespace bench::hash_update

// SPDX-License-Identifier: Apache-2.0
// Emitted pairs on their way to the slots of their keys: they wait until some dozens are together,
// and the slots are prefetched meanwhile.
#pragma once

#include <algorithm>
#include <creek/core/io/block_pool.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/tables/hash_slots.hpp>
#include <creek/mapreduce/tables/stored_key.hpp>
#include <creek/tasking/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace creek::mapreduce::detail {

/// Number of partitions of a mapper's pairs, by the highest bits of the hash of their keys.
inline constexpr std::size_t hash_partitions = 64;
/// Number of emitted pairs that wait for each other.
inline constexpr std::size_t max_waiting = 64;

/// Calls `f(T&&)` for all objects and removes them. If a call throws, removes its object and those
/// before it: map() may handle an exception of the job's combine() and go on.
template <class T, class F>
void process_all(std::vector<T>& waiting, F&& f) {
  std::size_t done = 0;
  try {
    while (done < waiting.size()) f(std::move(waiting[done++]));
  } catch (...) {
    waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(done));
    throw;
  }
  waiting.clear();
}

/// Used by one task at a time. A receiver of pairs has `slots(part)`, the hash_slots of a
/// partition, and `add(hashed_pair&&)`.
template <class Job>
class waiting_pairs {
 public:
  using key_type = typename Job::key_type;
  using value_type = typename Job::value_type;
  using stored = stored_key<key_type>;

  struct hashed_pair {
    std::uint64_t hash;
    stored key;
    value_type value;

    [[nodiscard]] std::size_t part() const noexcept { return part_of(hash); }
    [[nodiscard]] std::uint32_t tag() const noexcept { return tag_of(hash); }
  };

  explicit waiting_pairs(const Job& job) : job_(&job) { waiting_.reserve(max_waiting); }

  /// Declares the text that the next keys may be views into; it is readable until flush().
  void source(std::string_view text) noexcept { text_ = text; }

  /// Returns the key in the form in which it is stored.
  [[nodiscard]] stored to_stored(key_type&& key) const { return stored(std::move(key), text_); }

  /// Returns whether a pair may wait. Views of other text are valid during this call only.
  [[nodiscard]] bool may_wait(const stored& key) const { return key.stays_with(text_); }

  template <class Receiver>
  [[gnu::always_inline]] void add(stored&& key, value_type&& value, Receiver& to) {
    const std::uint64_t hash = hash_of_stored(key);
    auto& slots = to.slots(part_of(hash));
    // Few slots are in a cache.
    if (slots.capacity() <= max_cached || !may_wait(key)) {
      return to.add({hash, std::move(key), std::move(value)});
    }
    slots.prefetch(tag_of(hash));
    waiting_.push_back({hash, std::move(key), std::move(value)});
    if (waiting_.size() == max_waiting) flush(to);
  }

  template <class Receiver>
  void flush(Receiver& to) {
    process_all(waiting_, [&to](hashed_pair&& pair) { to.add(std::move(pair)); });
  }

  /// Returns bits that differ for most keys, the highest of them best: cheaper than a hash if
  /// possible, and without its protection against chosen keys.
  [[nodiscard]] std::uint64_t place_bits(const stored& key) const {
    if constexpr (requires { key.cheap_bits(); }) {
      return key.cheap_bits();
    } else {
      return hash_of_stored(key);
    }
  }

  /// Returns whether a key with this tag belongs to a partition. Does not read text outside the
  /// key, which holds for a mapped file that may have been overwritten.
  [[nodiscard]] bool belongs(const stored& key, std::uint32_t tag, std::size_t part) const {
    if (!key.stays_with({})) return true;
    const std::uint64_t hash = hash_of_stored(key);
    return part_of(hash) == part && tag_of(hash) == tag;
  }

 private:
  static constexpr std::size_t max_cached = 32;  // in each partition

  [[nodiscard]] static constexpr std::size_t part_of(std::uint64_t hash) noexcept {
    return hash / (~std::uint64_t{0} / hash_partitions + 1);
  }
  /// The lowest bits of a tag are the position where a search begins; 0 is no tag.
  [[nodiscard]] static constexpr std::uint32_t tag_of(std::uint64_t hash) noexcept {
    return std::max(static_cast<std::uint32_t>(hash), std::uint32_t{1});
  }
  /// Some bits of a job's own hash may be bad.
  [[nodiscard]] std::uint64_t hash_of_stored(const stored& key) const {
    if constexpr (requires(const key_type& k) { job_->hash(k); }) {
      return hash_integer(job_->hash(key.get()), secret_->factors);
    } else {
      return key.hash(*secret_);
    }
  }

  const Job* job_;
  const hash_secret* secret_ = &current_hash_secret();
  std::string_view text_;
  std::vector<hashed_pair> waiting_;
};

/// Returns the partitions of a table, which share a pool.
template <class Slots>
[[nodiscard]] std::vector<Slots> make_partitions() {
  const auto pool = std::make_shared<block_pool>();
  std::vector<Slots> made;
  made.reserve(hash_partitions);
  for (std::size_t part = 0; part < hash_partitions; ++part) made.emplace_back(pool);
  return made;
}

}  // namespace creek::mapreduce::detail

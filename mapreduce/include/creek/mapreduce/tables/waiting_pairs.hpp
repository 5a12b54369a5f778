// SPDX-License-Identifier: Apache-2.0
// Emitted pairs on their way to the slots of their keys, which are prefetched.
#pragma once

#include <creek/core/io/block_pool.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/tables/hash_slots.hpp>
#include <creek/mapreduce/tables/stored_key.hpp>
#include <creek/mapreduce/tables/waiting_objects.hpp>
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

/// Used by one task at a time. A receiver of pairs has `slots(part)`, the hash_slots of a
/// partition, and `add(hashed_pair&&)`.
template <class Job>
class waiting_pairs {
 public:
  using key_type = typename Job::key_type;
  using value_type = typename Job::value_type;
  using stored = stored_key<key_type>;
  static constexpr bool job_hashes = requires(const Job& job, const key_type& key) {
    job.hash(key);
  };

  struct hashed_pair {
    std::uint64_t hash = 0;
    stored key;
    [[no_unique_address]] value_type value;

    hashed_pair(key_type&& emitted, std::string_view text, value_type&& with)
        : key(std::move(emitted), text), value(std::move(with)) {}
    hashed_pair(stored&& from, value_type&& with) : key(std::move(from)), value(std::move(with)) {}

    [[nodiscard]] std::size_t part() const noexcept { return part_of(hash); }
    [[nodiscard]] std::uint32_t tag() const noexcept { return tag_of(hash); }
  };
  using candidate = typename waiting_objects<hashed_pair>::candidate;

  explicit waiting_pairs(const Job& job) : job_(&job) {}

  /// Declares the text that the next keys may be views into; it is readable until flush().
  void source(std::string_view text) noexcept { text_ = text; }

  /// Returns a key in the form in which it is stored.
  [[nodiscard, gnu::always_inline]] stored store(key_type&& key) const {
    return stored(std::move(key), text_);
  }
  /// Returns an emitted pair. It is there until it is passed to add() or destroyed, before the next
  /// call.
  [[nodiscard, gnu::always_inline]] candidate make(stored&& key, value_type&& value) {
    return waiting_.make(std::move(key), std::move(value));
  }

  /// Returns whether a pair may wait. Views of other text are valid during this call only.
  [[nodiscard]] bool may_wait(const stored& key) const { return key.stays_with(text_); }

  template <class Receiver>
  [[gnu::always_inline]] void add(candidate&& made, Receiver& to) {
    if constexpr (!hashes_late) ask_for_slot(*made, to);
    if (!may_wait(made->key)) [[unlikely]]
      return add_now(*made, to);
    made.keep();
    if (waiting_.is_full()) [[unlikely]]
      process(max_ahead, to);
  }

  template <class Receiver>
  void flush(Receiver& to) {
    process(waiting_.size(), to);
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
  /// Byte strings are hashed many at a time, unless the job hashes them, which may throw. Other
  /// keys at once: the fetches of their slots come one by one, not so many together that the loads
  /// of map() wait for them.
  static constexpr bool hashes_late = stored::has_text_outside && !job_hashes;

  [[nodiscard]] static constexpr std::size_t part_of(std::uint64_t hash) noexcept {
    return hash / (~std::uint64_t{0} / hash_partitions + 1);
  }
  /// Some bits of a job's own hash may be bad.
  [[nodiscard]] std::uint64_t hash_of_stored(const stored& key) const {
    if constexpr (job_hashes) {
      return hash_integer(job_->hash(key.get()), secret_->factors);
    } else {
      return key.hash(*secret_);
    }
  }

  template <class Receiver>
  [[gnu::always_inline]] void ask_for_slot(hashed_pair& pair, Receiver& to) const {
    pair.hash = hash_of_stored(pair.key);
    to.slots(pair.part()).prefetch(pair.tag());
  }

  template <class Receiver>
  [[gnu::noinline]] void add_now(hashed_pair& pair, Receiver& to) {
    if constexpr (hashes_late) pair.hash = hash_of_stored(pair.key);
    to.add(std::move(pair));
  }
  template <class Receiver>
  [[gnu::noinline]] void process(std::size_t count, Receiver& to) {
    static_assert(!hashes_late ||
                  noexcept(std::declval<const stored&>().hash(current_hash_secret())));
    waiting_.process(
        count,
        [&](hashed_pair& pair) {
          if constexpr (hashes_late) ask_for_slot(pair, to);
        },
        [&](const hashed_pair& pair) {
          if constexpr (stored::has_text_outside) {
            if (!pair.key.is_inside()) to.slots(pair.part()).prefetch_text(pair.tag());
          }
        },
        [&](hashed_pair&& pair) { to.add(std::move(pair)); });
  }

  const Job* job_;
  const hash_secret* secret_ = &current_hash_secret();
  std::string_view text_;
  waiting_objects<hashed_pair> waiting_;
};

/// Returns the partitions of a table.
template <class Slots>
[[nodiscard]] std::vector<Slots> make_partitions(const std::shared_ptr<block_pool>& pool) {
  std::vector<Slots> made;
  made.reserve(hash_partitions);
  for (std::size_t part = 0; part < hash_partitions; ++part) made.emplace_back(pool);
  return made;
}

}  // namespace creek::mapreduce::detail

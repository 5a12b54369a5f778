// SPDX-License-Identifier: Apache-2.0
// Emitted pairs on their way to the slots of their keys, which are prefetched: each waits until
// some dozens have come after it.
#pragma once

#include <algorithm>
#include <bit>
#include <creek/core/io/block_pool.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/tables/hash_slots.hpp>
#include <creek/mapreduce/tables/stored_key.hpp>
#include <creek/tasking/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

namespace creek::mapreduce::detail {

/// Number of partitions of a mapper's pairs, by the highest bits of the hash of their keys.
inline constexpr std::size_t hash_partitions = 64;
/// Number of emitted pairs that wait.
inline constexpr std::size_t max_waiting = 64;

/// A queue of up to max_waiting objects, which are constructed where they stay: copying what was
/// just written by parts stalls most processors. There is room for one object more.
template <class T>
class waiting_objects {
 public:
  waiting_objects() = default;
  waiting_objects(waiting_objects&& other) noexcept { swap(other); }
  waiting_objects& operator=(waiting_objects&& other) noexcept {
    swap(other);
    return *this;
  }
  ~waiting_objects() {
    for (; size_ != 0; drop_first()) {
    }
  }

  [[nodiscard]] bool is_full() const noexcept { return size_ == max_waiting; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Returns the object before which `i` others wait.
  [[nodiscard]] T& operator[](std::size_t i) const noexcept {
    return *std::launder(reinterpret_cast<T*>(&room_[(first_ + i) % places]));
  }

  /// An object behind the waiting ones, which is destroyed unless it is kept.
  class candidate {
   public:
    candidate(waiting_objects& in, T* at) noexcept : in_(&in), at_(at) {}
    candidate(const candidate&) = delete;
    candidate& operator=(const candidate&) = delete;
    ~candidate() {
      if (at_ != nullptr) std::destroy_at(at_);
    }
    [[nodiscard]] T& operator*() const noexcept { return *at_; }
    [[nodiscard]] T* operator->() const noexcept { return at_; }
    /// Lets the object wait; the queue is not full.
    void keep() noexcept {
      ++in_->size_;
      at_ = nullptr;
    }

   private:
    waiting_objects* in_;
    T* at_;
  };
  template <class... Args>
  [[nodiscard, gnu::always_inline]] candidate make(Args&&... args) {
    if (!room_) [[unlikely]]
      room_ = std::make_unique_for_overwrite<place[]>(places);
    auto* const at = reinterpret_cast<T*>(&room_[(first_ + size_) % places]);
    return candidate(*this, std::construct_at(at, std::forward<Args>(args)...));
  }

  /// Calls `f(T&&)` for the object that waits longest and removes it, also if the call throws:
  /// map() may handle an exception of the job's combine() and go on.
  template <class F>
  [[gnu::always_inline]] void process_first(F&& f) {
    struct guard {
      waiting_objects* of;
      ~guard() { of->drop_first(); }
    } const guard{this};
    f(std::move((*this)[0]));
  }

 private:
  static constexpr std::size_t places = 2 * max_waiting;
  static_assert(std::has_single_bit(places));
  struct place {
    alignas(T) std::byte bytes[sizeof(T)];
  };

  void drop_first() noexcept {
    std::destroy_at(&(*this)[0]);
    first_ = (first_ + 1) % places;
    --size_;
  }
  void swap(waiting_objects& other) noexcept {
    std::swap(room_, other.room_);
    std::swap(first_, other.first_);
    std::swap(size_, other.size_);
  }

  std::unique_ptr<place[]> room_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

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
    value_type value;

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

  /// Returns an emitted pair with its key in the form in which it is stored. It is there until it
  /// is passed to add() or destroyed, before the next call.
  [[nodiscard, gnu::always_inline]] candidate make(key_type&& key, value_type&& value) {
    return waiting_.make(std::move(key), text_, std::move(value));
  }
  [[nodiscard]] candidate make(stored&& key, value_type&& value) {
    return waiting_.make(std::move(key), std::move(value));
  }

  /// Returns whether a pair may wait. Views of other text are valid during this call only.
  [[nodiscard]] bool may_wait(const stored& key) const { return key.stays_with(text_); }

  template <class Receiver>
  [[gnu::always_inline]] void add(candidate&& made, Receiver& to) {
    const std::uint64_t hash = hash_of_stored(made->key);
    made->hash = hash;
    auto& slots = to.slots(part_of(hash));
    // Few slots are in a cache.
    if (slots.capacity() <= max_cached || !may_wait(made->key)) return to.add(std::move(*made));
    slots.prefetch(tag_of(hash));
    made.keep();
    if (waiting_.is_full()) process_first(to);
  }

  template <class Receiver>
  void flush(Receiver& to) {
    while (waiting_.size() != 0) process_first(to);
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
  /// Some bits of a job's own hash may be bad.
  [[nodiscard]] std::uint64_t hash_of_stored(const stored& key) const {
    if constexpr (job_hashes) {
      return hash_integer(job_->hash(key.get()), secret_->factors);
    } else {
      return key.hash(*secret_);
    }
  }

  template <class Receiver>
  [[gnu::always_inline]] void process_first(Receiver& to) {
    waiting_.process_first([&to](hashed_pair&& pair) { to.add(std::move(pair)); });
  }

  const Job* job_;
  const hash_secret* secret_ = &current_hash_secret();
  std::string_view text_;
  waiting_objects<hashed_pair> waiting_;
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

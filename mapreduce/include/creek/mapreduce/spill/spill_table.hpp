// SPDX-License-Identifier: Apache-2.0
// Pairs in a block of memory of fixed size: a hash table that combines them, or a plain list. When
// full, it is written out by partition and cleared.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <creek/core/threads/prefetch.hpp>
#include <creek/mapreduce/detail/key_views.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/spill/spill_file.hpp>
#include <creek/mapreduce/tables/key_store.hpp>
#include <creek/mapreduce/tables/stored_key.hpp>
#include <creek/mapreduce/wire.hpp>
#include <creek/tasking/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace creek::mapreduce {

/// Returns the hash for partitions and tables of a run with a limit: all its bits are good, even if
/// those of the job's own hash are not.
template <class Job>
[[nodiscard]] std::uint64_t spread_hash(const Job& job, const typename Job::key_type& key,
                                        const hash_secret& secret) {
  return hash_integer(hash_of(job, key, secret));
}

/// Returns 32 bits of a hash from bit `skipped` on (of 64, highest first).
[[nodiscard]] constexpr std::uint32_t hash_digits(std::uint64_t hash, int skipped) noexcept {
  return skipped >= 64 ? 0 : static_cast<std::uint32_t>(hash << skipped >> 32);
}

namespace detail {

/// Returns the bytes of an object's byte form. Out of line: when inlined, appending to an empty
/// vector makes GCC 12 warn of an impossible overflow.
template <class T>
[[gnu::noinline]] std::size_t form_bytes(const T& object, std::vector<std::byte>& scratch) {
  scratch.clear();
  wire<T>::put(scratch, object);
  return scratch.size();
}

/// Returns the approximate bytes that an object owns on the heap.
template <class T>
[[nodiscard]] std::size_t heap_bytes(const T& object, std::vector<std::byte>& scratch) {
  constexpr std::size_t allocation = 32;  // overhead per allocation
  if constexpr (std::is_trivially_copyable_v<T> || holds_views<T>()) {
    return 0;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return object.capacity() < sizeof(std::string) / 2 ? 0 : object.capacity() + allocation;
  } else {
    return form_bytes(object, scratch) + allocation;
  }
}

}  // namespace detail

/// Used by one task at a time. The memory holds an index of hash tags, after it the pairs in order
/// of arrival, and at the end the bytes of keys that are views of temporary text; memory that keys
/// and values own on the heap is estimated and counted as if it were inside.
template <job Job>
class spill_table {
 public:
  using key_type = typename Job::key_type;
  using value_type = typename Job::value_type;
  using stored = stored_key<key_type>;
  struct pair {
    stored key;
    value_type value;
  };

  spill_table(const Job& job, std::size_t bytes, spill_meter& meter)
      : job_(&job), memory_(bytes), charge_(meter) {
    // At most three quarters of the slots are used; some keys have bytes outside the pair.
    constexpr std::size_t of_pair = sizeof(pair) + (detail::holds_views<key_type>() ? 4 : 0);
    slots_ = bytes / (sizeof(std::uint64_t) + of_pair * 3 / 4);
    active_ = std::min<std::size_t>(slots_, 1024);
    most_ = std::min<std::size_t>(slots_ * 3 / 4, std::numeric_limits<std::uint32_t>::max() - 1);
    void* at = memory_.data() + slots_ * sizeof(std::uint64_t);
    std::size_t left = bytes - slots_ * sizeof(std::uint64_t);
    std::align(alignof(pair), sizeof(pair), at, left);
    pairs_ = static_cast<pair*>(at);
    keys_ = end();
  }
  spill_table(const spill_table&) = delete;
  spill_table& operator=(const spill_table&) = delete;
  ~spill_table() { std::destroy_n(pairs_, size_); }

  /// Announces the source text, like key_store::source().
  void source(std::string_view text, bool stable) noexcept {
    stable_ = stable ? text : std::string_view{};
  }

  /// Returns whether the table is larger than a cache of the second level may be.
  [[nodiscard]] bool is_large() const noexcept {
    return size_ * (sizeof(pair) + 2 * sizeof(std::uint64_t)) > std::size_t{1} << 19;
  }

  // Two steps of fetching what combine() will need; the second reads what the first fetched.
  void prefetch_slot(std::uint64_t hash) const noexcept {
    prefetch_to_read(index() + slot_of(hash));
  }
  void prefetch_pair(std::uint64_t hash) const noexcept {
    const std::uint64_t entry = index()[slot_of(hash)] & 0xFFFFFFFF;
    if (entry != 0) prefetch_to_read(pairs_ + entry - 1);
  }

  /// Combines a pair with the pair of its key, or adds it. Returns false and does nothing if there
  /// is no room.
  [[nodiscard]] bool combine(std::uint64_t hash, stored& key, value_type& value) {
    const std::uint64_t tag = hash << 32;
    for (std::size_t at = slot_of(hash);; at = at + 1 == active_ ? 0 : at + 1) {
      const std::uint64_t entry = index()[at];
      if (entry == 0) {
        if (!append(key, value)) return false;
        index()[at] = tag | size_;
        if (size_ > active_ / 4 * 3 && active_ < slots_) enlarge_index();
        return true;
      }
      if ((entry ^ tag) >> 32 != 0) continue;
      pair& found = pairs_[(entry & 0xFFFFFFFF) - 1];
      if (!(found.key == key)) continue;
      if constexpr (grows) heap_ += detail::heap_bytes(value, scratch_);
      job_->combine(found.value, std::move(value));
      return true;
    }
  }

  /// Adds a pair. Returns false and does nothing if there is no room.
  [[nodiscard]] bool append(stored& key, value_type& value) {
    std::size_t copied = 0;
    key.for_each_view([&](std::string_view& view) {
      if (!lies_in(stable_, view)) copied += view.size();
    });
    const std::size_t owned =
        detail::heap_bytes(key.get(), scratch_) + detail::heap_bytes(value, scratch_);
    if (size_ == most_ || used() + sizeof(pair) + copied + owned > memory_.size()) return false;
    key.for_each_view([&](std::string_view& view) {
      if (!lies_in(stable_, view)) view = keep(view);
    });
    std::construct_at(pairs_ + size_, pair{std::move(key), std::move(value)});
    ++size_;
    heap_ += owned;
    return true;
  }

  /// Returns whether combining has made values grow beyond the memory.
  [[nodiscard]] bool overgrown() const noexcept {
    if constexpr (grows) return used() > memory_.size();
    return false;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Calls `f(key, value)` for all pairs, with references that may be moved from.
  template <class F>
  void for_each(F&& f) {
    for (pair& one : std::span(pairs_, size_)) {
      one.key.visit([&](key_type& key) { f(key, one.value); });
    }
  }

  /// Writes all pairs by the `bits` bits of their keys' hash after the first `skipped`, and clears
  /// the table. The blocks' hashes are the 32 bits from `skipped` on.
  void write_out(int skipped, int bits, block_writer& to, spill_blocks* parts) {
    assert(verify());
    charge_.raise_to(resident());
    // The index is no longer needed; its space holds two numbers per pair.
    auto* const digits = reinterpret_cast<std::uint32_t*>(memory_.data());
    std::uint32_t* const order = digits + size_;
    std::array<std::uint32_t, 257> next{};  // of at most 8 bits
    const int down = 32 - bits;
    for (std::size_t i = 0; i < size_; ++i) {
      digits[i] = hash_digits(spread_hash(*job_, pairs_[i].key.get(), *secret_), skipped);
      ++next[(digits[i] >> down) + 1];
    }
    for (std::size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
    for (std::size_t i = 0; i < size_; ++i) {
      order[next[digits[i] >> down]++] = static_cast<std::uint32_t>(i);
    }
    to.begin(parts);
    for (std::size_t i = 0; i < size_; ++i) {
      const pair& one = pairs_[order[i]];
      wire<key_type>::put(to.bytes(), one.key.get());
      wire<value_type>::put(to.bytes(), one.value);
      to.item(digits[order[i]] >> down, digits[order[i]]);
    }
    to.finish();
    clear();
  }

  void clear() {
    charge_.raise_to(resident());
    std::destroy_n(pairs_, size_);
    std::memset(memory_.data(), 0, active_ * sizeof(std::uint64_t));
    size_ = heap_ = 0;
    keys_ = end();
  }

  /// Returns whether the pairs and the kept bytes of keys do not overlap and, if the table
  /// combines, each pair is found by its key and the index holds nothing else.
  [[nodiscard]] bool verify() const {
    if (size_ > most_ || reinterpret_cast<const char*>(pairs_ + size_) > keys_) return false;
    const auto is_used = [](std::uint64_t entry) { return entry != 0; };
    const auto used = std::count_if(index(), index() + active_, is_used);
    if (used == 0) return true;  // a list
    if (static_cast<std::size_t>(used) != size_ || size_ == active_) return false;
    for (std::size_t i = 0; i < size_; ++i) {
      if (!leads_to(spread_hash(*job_, pairs_[i].key.get(), *secret_), i)) return false;
    }
    return true;
  }

 private:
  /// Whether values own memory that combining may increase.
  static constexpr bool grows =
      !std::is_trivially_copyable_v<value_type> && !detail::holds_views<value_type>();

  [[nodiscard]] std::uint64_t* index() const noexcept {
    return reinterpret_cast<std::uint64_t*>(memory_.data());
  }
  [[nodiscard]] char* end() const noexcept {
    return reinterpret_cast<char*>(memory_.data() + memory_.size());
  }
  [[nodiscard]] std::size_t used() const noexcept {
    const auto* const behind = reinterpret_cast<const std::byte*>(pairs_ + size_);
    return static_cast<std::size_t>(behind - memory_.data()) +
           static_cast<std::size_t>(end() - keys_) + heap_;
  }

  [[nodiscard]] std::size_t resident() const noexcept {
    return used() - (slots_ - std::max(active_, size_)) * sizeof(std::uint64_t);
  }

  /// Enlarges the index on demand: one sized for the present pairs stays in caches, clears fast.
  void enlarge_index() {
    active_ = std::min(4 * active_, slots_);
    std::memset(memory_.data(), 0, active_ * sizeof(std::uint64_t));
    for (std::size_t i = 0; i < size_; ++i) {
      const std::uint64_t hash = spread_hash(*job_, pairs_[i].key.get(), *secret_);
      std::size_t at = slot_of(hash);
      while (index()[at] != 0) at = at + 1 == active_ ? 0 : at + 1;
      index()[at] = hash << 32 | (i + 1);
    }
    assert(verify());
  }

  /// Returns whether a search from the slot of `hash` comes to pair i before a free entry.
  [[nodiscard]] bool leads_to(std::uint64_t hash, std::size_t i) const noexcept {
    std::size_t at = slot_of(hash);
    while (index()[at] != 0 && index()[at] != (hash << 32 | (i + 1))) {
      at = at + 1 == active_ ? 0 : at + 1;
    }
    return index()[at] != 0;
  }

  /// Keys of one partition agree in high bits; the bits of this product depend on all bits.
  [[nodiscard]] std::size_t slot_of(std::uint64_t hash) const noexcept {
    __extension__ using wide = unsigned __int128;
    return static_cast<std::size_t>(wide{hash * 0x9E3779B97F4A7C15ull} * active_ >> 64);
  }

  [[nodiscard]] std::string_view keep(std::string_view bytes) noexcept {
    keys_ -= bytes.size();
    if (!bytes.empty()) std::memcpy(keys_, bytes.data(), bytes.size());
    return {keys_, bytes.size()};
  }

  const Job* job_;
  const hash_secret* secret_ = &current_hash_secret();
  page_memory memory_;
  memory_charge charge_;
  std::size_t slots_;   // maximum number of slots
  std::size_t active_;  // slots in use
  std::size_t most_;    // maximum number of pairs
  pair* pairs_;
  std::size_t size_ = 0;
  char* keys_;
  std::size_t heap_ = 0;
  std::string_view stable_;
  std::vector<std::byte> scratch_;
};

}  // namespace creek::mapreduce

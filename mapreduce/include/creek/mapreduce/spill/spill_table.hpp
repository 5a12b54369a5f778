// SPDX-License-Identifier: Apache-2.0
// Pairs in a block of memory of fixed size: a hash table that combines them, or a plain list. When
// full, it is written out by partition and cleared.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <creek/core/messages/wire.hpp>
#include <creek/core/threads/prefetch.hpp>
#include <creek/mapreduce/detail/key_views.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/spill/spill_file.hpp>
#include <creek/mapreduce/tables/key_store.hpp>
#include <creek/mapreduce/tables/stored_key.hpp>
#include <creek/tasking/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
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
    active_ = std::min(slots_, min_slots);
    most_ = std::min<std::size_t>(slots_ * 3 / 4, number_mask - 1);
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

  /// Returns the bytes of memory that combining so many pairs takes, without what they have beside
  /// their objects.
  [[nodiscard]] static constexpr std::uint64_t bytes_for(std::uint64_t pairs) noexcept {
    std::uint64_t slots = min_slots;
    while (pairs > slots / 4 * 3) slots *= growth;
    return slots * sizeof(std::uint64_t) + pairs * sizeof(pair);
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
    const std::uint64_t entry = index()[slot_of(hash)];
    if (entry != 0) prefetch_to_read(pairs_ + number_in(entry));
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
      pair& found = pairs_[number_in(entry)];
      if (!(found.key == key)) continue;
      if ((entry & frequent) == 0) index()[at] = entry | frequent;
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
  /// Gives back the memory that full tables took and this one does not need.
  void trim() {
    const auto* const first = reinterpret_cast<const std::byte*>(pairs_);
    const auto* const behind = reinterpret_cast<const std::byte*>(pairs_ + size_);
    memory_.discard(memory_.data() + std::max(active_, size_) * sizeof(std::uint64_t), first);
    memory_.discard(behind, reinterpret_cast<const std::byte*>(keys_));
    charge_.set(resident());
  }
  /// Returns the bytes of memory in use, without what was reserved only.
  [[nodiscard]] std::size_t resident() const noexcept {
    return used() - (slots_ - std::max(active_, size_)) * sizeof(std::uint64_t);
  }
  /// Calls `f(key, value)` for all pairs, with references that may be moved from.
  template <class F>
  void for_each(F&& f) {
    for (pair& one : std::span(pairs_, size_)) {
      one.key.visit([&](key_type& key) { f(key, one.value); });
    }
  }

  /// Orders the pairs by the `bits` bits of their keys' hash after the first `skipped`: the number
  /// of their partition. Afterwards the table may only be read, written out or cleared.
  void sort_by_part(int skipped, int bits) {
    assert(verify());
    charge_.raise_to(resident());
    sort_some(skipped, bits, [](std::size_t) { return true; });
  }
  /// Returns the number of pairs of a partition after sort_by_part().
  [[nodiscard]] std::size_t size_of(std::size_t part) const noexcept {
    return ends_[part] - begin_of(part);
  }
  /// Calls `f(stored&, value&)` for them, with references that may be moved from.
  template <class F>
  void for_each_in(std::size_t part, F&& f) {
    for_each_sorted(begin_of(part), ends_[part],
                    [&](std::uint32_t number) { f(pairs_[number].key, pairs_[number].value); });
  }
  /// Returns about how many bytes they have beside their objects.
  [[nodiscard]] std::size_t bytes_outside(std::size_t part) const noexcept {
    return size_ == 0 ? 0 : (views_ + heap_) * size_of(part) / size_;
  }

  /// Writes all pairs by partition, and clears the table. The blocks' hashes are the 32 bits from
  /// `skipped` on.
  void write_out(int skipped, int bits, block_writer& to, spill_blocks* parts) {
    sort_by_part(skipped, bits);
    write_sorted(to, parts);
    clear();
  }
  /// Same after sort_by_part().
  void write_sorted(block_writer& to, spill_blocks* parts) {
    to.begin(parts);
    for_each_sorted(0, ends_.back(), [&](std::uint32_t number) {
      const pair& one = pairs_[number];
      wire<key_type>::put(to.bytes(), one.key.get());
      wire<value_type>::put(to.bytes(), one.value);
      to.item(digits()[number] >> part_shift_, digits()[number]);
    });
    to.finish();
  }
  /// Same as write_out() for the pairs with which none was combined since the last call; the others
  /// stay, so that further pairs of frequent keys need not be written. All pairs go if
  /// more than half of them would stay, or if values grow.
  void write_rare(int skipped, int bits, block_writer& to, spill_blocks* parts) {
    if constexpr (grows) return write_out(skipped, bits, to, parts);
    const std::vector<bool> stays = frequent_pairs();
    if (static_cast<std::size_t>(std::ranges::count(stays, true)) > size_ / 2) {
      return write_out(skipped, bits, to, parts);
    }
    assert(verify());
    charge_.raise_to(resident());
    sort_some(skipped, bits, [&](std::size_t i) { return !stays[i]; });
    write_sorted(to, parts);
    remove_others(stays);
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

  static constexpr std::size_t min_slots = 1024;
  static constexpr std::size_t growth = 4;
  // An entry of the index: 32 bits of the hash, whether the pair is frequent, and its number + 1.
  static constexpr std::uint64_t frequent = std::uint64_t{1} << 31;
  static constexpr std::uint64_t number_mask = frequent - 1;
  [[nodiscard]] static std::size_t number_in(std::uint64_t entry) noexcept {
    return (entry & number_mask) - 1;
  }

  // Sorting needs no index; its space holds two numbers per pair.
  [[nodiscard]] std::uint32_t* digits() const noexcept {
    return reinterpret_cast<std::uint32_t*>(memory_.data());
  }
  [[nodiscard]] std::uint32_t* order() const noexcept { return digits() + size_; }
  [[nodiscard]] std::size_t begin_of(std::size_t part) const noexcept {
    return part == 0 ? 0 : ends_[part - 1];
  }
  /// Calls `f(number)` for the pairs from the `begin`-th to the `end`-th in order.
  template <class F>
  void for_each_sorted(std::size_t begin, std::size_t end, F&& f) const {
    constexpr std::size_t ahead = 16;
    for (std::size_t i = begin; i < end; ++i) {
      if (i + ahead < end) prefetch_to_read(pairs_ + order()[i + ahead]);
      f(order()[i]);
    }
  }
  /// Sorts the numbers of the pairs for which `is_in(number)`.
  template <class IsIn>
  void sort_some(int skipped, int bits, IsIn&& is_in) {
    part_shift_ = 32 - bits;
    views_ = 0;
    std::array<std::uint32_t, 257> next{};  // of at most 8 bits
    for (std::size_t i = 0; i < size_; ++i) {
      pairs_[i].key.for_each_view([&](std::string_view& view) { views_ += view.size(); });
      digits()[i] = hash_digits(spread_hash(*job_, pairs_[i].key.get(), *secret_), skipped);
      if (is_in(i)) ++next[(digits()[i] >> part_shift_) + 1];
    }
    for (std::size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
    for (std::size_t i = 0; i < size_; ++i) {
      if (is_in(i)) order()[next[digits()[i] >> part_shift_]++] = static_cast<std::uint32_t>(i);
    }
    std::copy_n(next.begin(), ends_.size(), ends_.begin());
  }

  [[nodiscard]] std::vector<bool> frequent_pairs() const {
    std::vector<bool> made(size_);
    for (std::size_t at = 0; at < active_; ++at) {
      if ((index()[at] & frequent) != 0) made[number_in(index()[at])] = true;
    }
    return made;
  }
  /// Removes the pairs that do not stay. Those that do keep their order, and so do the bytes of
  /// their keys, which are therefore moved to where nothing is needed any more.
  void remove_others(const std::vector<bool>& stays) {
    std::size_t kept = 0;
    char* keys = end();
    size_ = heap_ = 0;  // a pair that cannot be moved is lost, with the run
    for (std::size_t i = 0; i < stays.size(); ++i) {
      pair& from = pairs_[i];
      if (stays[i]) {
        if (kept != i) std::construct_at(pairs_ + kept, std::move(from));
        pair& now = pairs_[kept++];
        now.key.for_each_view([&](std::string_view& view) {
          if (!lies_in({keys_, static_cast<std::size_t>(end() - keys_)}, view)) return;
          keys -= view.size();
          std::memmove(keys, view.data(), view.size());
          view = {keys, view.size()};
        });
        heap_ +=
            detail::heap_bytes(now.key.get(), scratch_) + detail::heap_bytes(now.value, scratch_);
        if (&now == &from) continue;
      }
      std::destroy_at(&from);
    }
    size_ = kept;
    keys_ = keys;
    index_again();
  }

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

  /// Enlarges the index on demand: one sized for the present pairs stays in caches, clears fast.
  void enlarge_index() {
    active_ = std::min(growth * active_, slots_);
    index_again();
  }
  void index_again() {
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
    while (index()[at] != 0 && (index()[at] & ~frequent) != (hash << 32 | (i + 1))) {
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
  // After sort_by_part():
  std::array<std::uint32_t, 256> ends_{};  // by partition, of its numbers in order()
  int part_shift_ = 0;
  std::size_t views_ = 0;  // bytes of the keys' views
};

}  // namespace creek::mapreduce

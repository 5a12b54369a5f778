// SPDX-License-Identifier: Apache-2.0
// Requirements of combine_on_emit on a hash table, and the general table. Word counting has its own
// table (word_table/word_table.hpp); a job names its table as `table_type`.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <concepts>
#include <creek/mapreduce/detail/key_views.hpp>
#include <creek/mapreduce/tables/byte_arena.hpp>
#include <creek/mapreduce/tables/key_store.hpp>
#include <creek/mapreduce/tables/values.hpp>
#include <creek/tasking/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace creek::mapreduce {

/// Combined pairs, owned by one mapper while it maps, cut into `T::partitions` by hash so that
/// different tasks can merge and read partitions at once.
template <class T>
concept table = std::movable<T> &&
    requires(T& t, T& other, const T& c, std::size_t part, std::string_view text) {
  /// From here on, keys that are views into `text` outlive the run (stable) or must be copied.
  t.source(text, true);
  /// Combines all pairs emitted so far; afterwards the last source text may be freed.
  t.flush();
  /// Moves partition `part` of `other` into this table's partition.
  t.merge(other, part);
  t.clear(part);
  { c.size(part) } -> std::convertible_to<std::size_t>;
  { c.emitted() } -> std::convertible_to<std::uint64_t>;
  { t.take_arena() } -> std::convertible_to<byte_arena>;
};

/// One table for all mappers, which emit through writers; also cut into `T::partitions`. For jobs
/// with combine() and without reduce().
template <class T>
concept shared_table = std::default_initializable<T> && requires {
  typename T::writer;
} && std::constructible_from<typename T::writer, T&> &&
    requires(T& t, const T& c, typename T::writer& writer, std::size_t part,
             std::string_view text) {
  /// Like table's source() and flush(), for the keys emitted to this writer.
  writer.source(text, true);
  writer.flush();
  /// Called after the last emit of a writer.
  writer.finish();
  /// Called after `finish` of all writers: moves the rest of a partition to the table.
  writer.drain(part);
  { std::as_const(writer).emitted() } -> std::convertible_to<std::uint64_t>;
  { c.size(part) } -> std::convertible_to<std::size_t>;
  { c.size() } -> std::convertible_to<std::uint64_t>;
  { t.take_arena() } -> std::convertible_to<byte_arena>;
};

/// The general table: an index of hash tags over pairs in order of arrival, so that growing moves
/// only the index and reading walks over an array.
template <class Job>
class flat_table {
 public:
  using key_type = typename Job::key_type;
  using value_type = typename Job::value_type;
  static constexpr std::size_t partitions = 64;
  static_assert(std::equality_comparable<key_type>,
                "pairs of equal keys are combined: the key_type of a job needs operator==");

  explicit flat_table(const Job& job) : job_(&job) {}

  void source(std::string_view text, bool stable) { keys_.source(text, stable); }

  void operator()(key_type key, value_type value) {
    ++emitted_;
    const std::uint64_t hash = hash_of(*job_, key, *secret_);
    add(parts_[hash >> 58], hash, std::move(key), std::move(value), true);
  }

  void flush() {}

  void merge(flat_table& other, std::size_t part) {
    if (other.parts_[part].pairs.size() > parts_[part].pairs.size()) {
      std::swap(parts_[part], other.parts_[part]);
    }
    for (auto& pair : other.parts_[part].pairs) {
      const std::uint64_t hash = hash_of(*job_, pair.key, *secret_);
      add(parts_[part], hash, std::move(pair.key), std::move(pair.value), false);
    }
    other.clear(part);
    assert(verify(part));
  }

  /// Calls `f(key, value)` with references that may be moved from.
  template <class F>
  void for_each(std::size_t part, F&& f) {
    for (auto& pair : parts_[part].pairs) f(pair.key, pair.value);
  }

  void clear(std::size_t part) { parts_[part] = {}; }
  [[nodiscard]] std::size_t size(std::size_t part) const { return parts_[part].pairs.size(); }
  [[nodiscard]] std::uint64_t emitted() const { return emitted_; }
  [[nodiscard]] byte_arena take_arena() { return keys_.take_arena(); }

  /// Returns whether each pair of a partition belongs there and is found by its key, and the index
  /// holds nothing else. Does not search for keys that are views: a mapped file can be overwritten.
  [[nodiscard]] bool verify(std::size_t part) const {
    const partition& here = parts_[part];
    const std::size_t pairs = here.pairs.size();
    const auto is_used = [](std::uint64_t entry) { return entry != 0; };
    const auto used = std::count_if(here.index.begin(), here.index.end(), is_used);
    if (2 * pairs > here.index.size() || static_cast<std::size_t>(used) != pairs) return false;
    if constexpr (!detail::holds_views<key_type>()) {
      for (std::size_t i = 0; i < pairs; ++i) {
        const std::uint64_t hash = hash_of(*job_, here.pairs[i].key, *secret_);
        if (hash >> 58 != part || !leads_to(here, hash, i)) return false;
      }
    }
    return true;
  }

  /// Keys of this table own their bytes or are views that outlive the table: nothing to copy.
  [[nodiscard]] static constexpr bool must_copy(const key_type&) { return false; }

 private:
  /// Index entries: 32 bits of hash over 32 bits of position + 1; 0 is free. At most half full.
  struct partition {
    std::vector<std::uint64_t> index = std::vector<std::uint64_t>(16);
    std::vector<mapreduce::emitted<key_type, value_type>> pairs;
  };

  void add(partition& part, std::uint64_t hash, key_type&& key, value_type&& value, bool is_new) {
    const std::size_t mask = part.index.size() - 1;
    const std::uint64_t tag = hash << 32;
    for (std::size_t at = (hash >> 26) & mask;; at = (at + 1) & mask) {
      const std::uint64_t entry = part.index[at];
      if (entry == 0) {
        if (is_new) keys_.keep(key);
        part.pairs.push_back({std::move(key), std::move(value)});
        part.index[at] = tag | part.pairs.size();
        if (part.pairs.size() * 2 > part.index.size()) grow(part);
        return;
      }
      if ((entry ^ tag) >> 32 != 0) continue;
      auto& pair = part.pairs[(entry & 0xFFFFFFFF) - 1];
      if (pair.key == key) return job_->combine(pair.value, std::move(value));
    }
  }

  void grow(partition& part) {
    std::vector<std::uint64_t> larger(part.index.size() * 2);
    const std::size_t mask = larger.size() - 1;
    for (std::size_t i = 0; i < part.pairs.size(); ++i) {
      const std::uint64_t hash = hash_of(*job_, part.pairs[i].key, *secret_);
      std::size_t at = (hash >> 26) & mask;
      while (larger[at] != 0) at = (at + 1) & mask;
      larger[at] = hash << 32 | (i + 1);
    }
    part.index = std::move(larger);
    assert(verify(static_cast<std::size_t>(&part - parts_.data())));
  }

  /// Returns whether a search from the bucket of `hash` comes to pair i before a free entry.
  static bool leads_to(const partition& part, std::uint64_t hash, std::size_t i) {
    const std::size_t mask = part.index.size() - 1;
    std::size_t at = (hash >> 26) & mask;
    while (part.index[at] != 0 && part.index[at] != (hash << 32 | (i + 1))) at = (at + 1) & mask;
    return part.index[at] != 0;
  }

  const Job* job_;
  const hash_secret* secret_ = &current_hash_secret();
  std::vector<partition> parts_ = std::vector<partition>(partitions);
  key_store<key_type> keys_;
  std::uint64_t emitted_ = 0;
};

}  // namespace creek::mapreduce

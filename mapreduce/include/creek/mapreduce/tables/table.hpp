// SPDX-License-Identifier: Apache-2.0
// Requirements of combine_on_emit on a hash table, and the general table. Word counting has its own
// table (word_table/word_table.hpp); a job names its table as `table_type`.
#pragma once

#include <cassert>
#include <concepts>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/tables/byte_arena.hpp>
#include <creek/mapreduce/tables/hash_slots.hpp>
#include <creek/mapreduce/tables/key_store.hpp>
#include <creek/mapreduce/tables/stored_key.hpp>
#include <creek/tasking/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
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

/// The general table, for keys and values of any type. Emitted pairs wait until some dozens are
/// together; meanwhile the slots where their keys are searched for are prefetched.
template <class Job>
class flat_table {
 public:
  using key_type = typename Job::key_type;
  using value_type = typename Job::value_type;
  static constexpr std::size_t partitions = 64;
  static_assert(std::equality_comparable<key_type>,
                "pairs of equal keys are combined: the key_type of a job needs operator==");

  explicit flat_table(const Job& job) : job_(&job) {
    const auto pool = std::make_shared<block_pool>();
    parts_.reserve(partitions);
    for (std::size_t part = 0; part < partitions; ++part) parts_.emplace_back(pool);
    waiting_.reserve(max_waiting);
  }

  void source(std::string_view text, bool stable) {
    text_ = text;
    keys_.source(text, stable);
  }

  void operator()(key_type key, value_type value) {
    ++emitted_;
    stored made(std::move(key), text_);
    const std::uint64_t hash = hash_for(made);
    slots& part = parts_[part_of(hash)];
    // Small tables are in a cache. Views of other text are valid during this call only.
    if (part.capacity() <= max_direct || !made.stays_with(text_)) {
      return add({hash, std::move(made), std::move(value)});
    }
    part.prefetch(slots::tag_of(hash));
    waiting_.push_back({hash, std::move(made), std::move(value)});
    if (waiting_.size() == max_waiting) flush();
  }

  void flush() {
    std::size_t done = 0;
    try {
      while (done < waiting_.size()) add(std::move(waiting_[done++]));
    } catch (...) {  // map() may handle an exception of combine() and go on
      waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(done));
      throw;
    }
    waiting_.clear();
  }

  void merge(flat_table& other, std::size_t part) {
    if (other.parts_[part].size() > parts_[part].size()) parts_[part].swap(other.parts_[part]);
    other.parts_[part].for_each([&](std::uint32_t tag, stored& key, value_type& value) {
      parts_[part].add(tag, std::move(key), std::move(value), combine(), [](stored&) {});
    });
    other.clear(part);
    assert(verify(part));
  }

  /// Calls `f(key, value)` with references that may be moved from.
  template <class F>
  void for_each(std::size_t part, F&& f) {
    parts_[part].for_each([&](std::uint32_t, stored& key, value_type& value) {
      key.visit([&](key_type& visited) { f(visited, value); });
    });
  }

  void clear(std::size_t part) { parts_[part].clear(); }
  [[nodiscard]] std::size_t size(std::size_t part) const { return parts_[part].size(); }
  [[nodiscard]] std::uint64_t emitted() const { return emitted_; }
  [[nodiscard]] byte_arena take_arena() { return keys_.take_arena(); }

  /// Returns whether each pair of a partition belongs there and is found by its key. Does not read
  /// text outside the table: a mapped file can be overwritten.
  [[nodiscard]] bool verify(std::size_t part) const {
    return parts_[part].verify([&](std::uint32_t tag, const stored& key) {
      if (!key.stays_with({})) return true;
      const std::uint64_t hash = hash_for(key);
      return part_of(hash) == part && slots::tag_of(hash) == tag;
    });
  }

  /// Returns whether a key from the table is a view of the table's own memory.
  [[nodiscard]] static constexpr bool must_copy(const key_type& key) {
    return stored::is_inside(key);
  }

 private:
  using stored = stored_key<key_type>;
  using slots = detail::hash_slots<stored, value_type>;
  static constexpr std::size_t max_waiting = 64;
  static constexpr std::size_t max_direct = 32;

  struct hashed_pair {
    std::uint64_t hash;
    stored key;
    value_type value;
  };

  [[nodiscard]] static constexpr std::size_t part_of(std::uint64_t hash) noexcept {
    return hash >> 58;
  }
  /// Some bits of a job's own hash may be bad.
  [[nodiscard]] std::uint64_t hash_for(const stored& key) const {
    if constexpr (requires(const key_type& k) { job_->hash(k); }) {
      return hash_integer(job_->hash(key.get()), secret_->factors);
    } else {
      return key.hash(*secret_);
    }
  }

  [[nodiscard]] auto combine() const noexcept {
    return
        [job = job_](value_type& into, value_type&& from) { job->combine(into, std::move(from)); };
  }
  void add(hashed_pair&& pair) {
    parts_[part_of(pair.hash)].add(slots::tag_of(pair.hash), std::move(pair.key),
                                   std::move(pair.value), combine(),
                                   [this](stored& key) { key.keep(keys_); });
  }

  const Job* job_;
  const hash_secret* secret_ = &current_hash_secret();
  std::vector<slots> parts_;
  std::vector<hashed_pair> waiting_;
  std::string_view text_;
  key_store<key_type> keys_;
  std::uint64_t emitted_ = 0;
};

}  // namespace creek::mapreduce

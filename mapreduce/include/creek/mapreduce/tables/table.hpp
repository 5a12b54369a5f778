// SPDX-License-Identifier: Apache-2.0
// Requirements of combine_on_emit on a hash table, and the general table. Word counting has its own
// table (word_table/word_table.hpp); a job names its table as `table_type`.
#pragma once

#include <cassert>
#include <concepts>
#include <creek/core/io/block_pool.hpp>
#include <creek/mapreduce/tables/byte_arena.hpp>
#include <creek/mapreduce/tables/front_cache.hpp>
#include <creek/mapreduce/tables/hash_slots.hpp>
#include <creek/mapreduce/tables/input_prefetcher.hpp>
#include <creek/mapreduce/tables/key_store.hpp>
#include <creek/mapreduce/tables/waiting_pairs.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace creek::mapreduce {

/// Combined pairs, owned by one mapper while it maps, cut into `T::partitions` by hash so that
/// different tasks can merge and read partitions at once. A table may have `will_read(memory)`,
/// called before each map(): the memory that this is going to read from its begin to its end.
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

/// The general table, for keys and values of any type.
template <class Job>
class flat_table {
 public:
  using key_type = typename Job::key_type;
  using value_type = typename Job::value_type;
  static constexpr std::size_t partitions = detail::hash_partitions;

  /// `pool`: of the table's memory; tables whose partitions are merged should have the same.
  explicit flat_table(const Job& job,
                      const std::shared_ptr<block_pool>& pool = std::make_shared<block_pool>())
      : job_(&job), parts_(detail::make_partitions<slots_type>(pool)), waiting_(job) {}

  void source(std::string_view text, bool stable) {
    waiting_.source(text);
    keys_.source(text, stable);
  }
  void will_read(std::string_view memory) noexcept { input_.begin(memory); }

  [[gnu::always_inline]] void operator()(key_type key, value_type value) {
    input_.count_pair();
    if constexpr (front_type::possible) {
      if (front_.is_on()) return add_in_front(waiting_.store(std::move(key)), std::move(value));
    }
    waiting_.add(waiting_.make(waiting_.store(std::move(key)), std::move(value)), *this);
  }

  void flush() {
    if constexpr (front_type::possible) {
      front_.flush([this](stored&& key, value_type&& value) {
        waiting_.add(waiting_.make(std::move(key), std::move(value)), *this);
      });
    }
    waiting_.flush(*this);
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
  [[nodiscard]] std::uint64_t emitted() const { return input_.pairs(); }
  [[nodiscard]] byte_arena take_arena() { return keys_.take_arena(); }

  /// Returns whether each pair of a partition belongs there and is found by its key.
  [[nodiscard]] bool verify(std::size_t part) const {
    return parts_[part].verify(
        [&](std::uint32_t tag, const stored& key) { return waiting_.belongs(key, tag, part); });
  }

  /// Returns whether a key from the table is a view of the table's own memory.
  [[nodiscard]] static constexpr bool must_copy(const key_type& key) {
    return stored::is_inside(key);
  }

 private:
  using pairs = detail::waiting_pairs<Job>;
  using stored = typename pairs::stored;
  using front_type = detail::front_cache<stored, value_type>;
  // With a tag, an integer of eight bytes takes eight bytes more.
  using tags =
      std::conditional_t<std::integral<key_type> && sizeof(key_type) == 8 && !pairs::job_hashes,
                         detail::computed_tags<stored>, detail::kept_tags>;
  using slots_type = detail::hash_slots<stored, value_type, tags>;
  friend pairs;

  [[nodiscard]] auto combine() const noexcept {
    return
        [job = job_](value_type& into, value_type&& from) { job->combine(into, std::move(from)); };
  }
  [[gnu::always_inline]] void add_in_front(stored&& key, value_type&& value) {
    if (waiting_.may_wait(key) && front_.put(waiting_.place_bits(key), key, value, combine())) {
      return;
    }
    waiting_.add(waiting_.make(std::move(key), std::move(value)), *this);
  }
  [[nodiscard]] slots_type& slots(std::size_t part) noexcept { return parts_[part]; }
  void add(typename pairs::hashed_pair&& pair) {
    parts_[pair.part()].add(pair.tag(), std::move(pair.key), std::move(pair.value), combine(),
                            [this](stored& key) { key.keep(keys_); });
  }

  const Job* job_;
  detail::input_prefetcher input_;
  std::vector<slots_type> parts_;
  front_type front_;
  pairs waiting_;
  key_store<key_type> keys_;
};

}  // namespace creek::mapreduce

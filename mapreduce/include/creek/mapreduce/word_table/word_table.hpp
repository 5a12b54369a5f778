// SPDX-License-Identifier: Apache-2.0
// Words of a text and their counts: sixteen bytes per entry, short words inside it. One table for
// all mappers; each writes through its own `word_writer`, which counts frequent words itself and
// hands over the rest one bucket at a time. Counts are incremented in increment_counts.cpp. The
// design is explained in docs/design/0002-word-table.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <creek/mapreduce/tables/byte_arena.hpp>
#include <creek/mapreduce/word_table/word_bucket.hpp>
#include <creek/mapreduce/word_table/word_entry.hpp>
#include <creek/mapreduce/word_table/zero_pool.hpp>
#include <creek/tasking/hash.hpp>

namespace creek::mapreduce {

class word_writer;

/// Counting hash table, cut by hash into `partitions`, each with a bucket of short words and one of
/// long words, whose locks are taken once per some hundred words. Functions that read a partition
/// (`size`, `for_each`) must not run concurrently with writers of it.
class word_table {
 public:
  /// Writer through which a mapper emits.
  using writer = word_writer;
  static constexpr std::size_t partitions = detail::word_partitions;

  word_table();
  word_table(const word_table&) = delete;
  word_table& operator=(const word_table&) = delete;

  /// Returns the number of different words in a partition, or in all of them.
  [[nodiscard]] std::size_t size(std::size_t part) const noexcept {
    return buckets_[2 * part].size() + buckets_[2 * part + 1].size();
  }
  [[nodiscard]] std::size_t size() const noexcept;

  /// Returns the bytes of the table itself, without the text that it points into.
  [[nodiscard]] std::size_t bytes() const noexcept;
  /// Returns the bytes of the copies of keys.
  [[nodiscard]] std::size_t key_bytes() const noexcept;
  /// Returns the secret for hashing words.
  [[nodiscard]] const hash_secret& secret() const noexcept { return *secret_; }

  /// Calls `f(std::string_view word, std::uint64_t count)` for each word of a partition, in no
  /// order. Views of words that must be copied are valid during the call only.
  template <class F>
  void for_each(std::size_t part, F&& f) const {
    buckets_[2 * part].for_each(f);
    buckets_[2 * part + 1].for_each(f);
  }

  /// Returns whether the table stores such a key inside an entry, so that a view of it dies with
  /// the table.
  [[nodiscard]] static constexpr bool must_copy(std::string_view key) noexcept {
    return detail::is_inline(key);
  }

  /// Returns the copied keys, for a result that outlives the table.
  [[nodiscard]] byte_arena take_arena();

  // The second tier: interface for the writer and the tests.

  [[nodiscard]] detail::word_bucket& bucket(std::size_t i) noexcept { return buckets_[i]; }

 private:
  const hash_secret* secret_ = &current_hash_secret();
  std::array<detail::word_bucket, 2 * partitions> buckets_;
  detail::zero_pool pool_;
};

}  // namespace creek::mapreduce

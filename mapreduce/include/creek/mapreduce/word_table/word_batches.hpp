// SPDX-License-Identifier: Apache-2.0
// Words that wait, by bucket, until there are enough for taking the bucket's lock to pay.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include <creek/mapreduce/word_table/word_entry.hpp>

namespace creek::mapreduce::detail {

/// Used by one task at a time.
class word_batches {
 public:
  /// Adds a word to the batch of its bucket; returns whether the batch is now full.
  [[nodiscard]] bool add(const hashed_word& word, std::uint32_t count = 1,
                         bool is_long = false) noexcept {
    const std::size_t bucket = bucket_of(word.hash, is_long);
    words_[bucket * room + sizes_[bucket]] = counted_word::make(word, count);
    return ++sizes_[bucket] == room;
  }
  /// Returns the words for a bucket and empties its batch.
  [[nodiscard]] std::span<counted_word> take(std::size_t bucket) noexcept {
    return {&words_[bucket * room], std::exchange(sizes_[bucket], 0)};
  }

 private:
  static constexpr std::size_t room = 128;
  static constexpr std::size_t buckets = 2 * word_partitions;
  std::array<std::uint32_t, buckets> sizes_{};
  std::unique_ptr<counted_word[]> words_ =
      std::make_unique_for_overwrite<counted_word[]>(buckets * room);
};

}  // namespace creek::mapreduce::detail

// SPDX-License-Identifier: Apache-2.0
// Counts of a mapper's frequent short words, in a table that stays in its core's second-level
// cache. Which words are there changes with the text; their counts are incremented in
// increment_counts.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <creek/mapreduce/word_table/word_entry.hpp>

namespace creek::mapreduce::detail {

/// Used by one task at a time.
class frequent_words {
 public:
  static constexpr std::size_t line_count = 8192;  // half a megabyte, see design 0002

  [[nodiscard]] std::span<word_line> lines() noexcept { return lines_; }

  /// Adds a word to its line, which has room.
  static void admit(word_line& line, const hashed_word& word) noexcept;

  /// Removes words that were counted less often than `least` times since the last call, to make
  /// room for words that have become frequent: calls `f(word_key, count)` for each.
  template <class F>
  void drop_rare(std::uint32_t least, F&& f) {
    for (std::size_t at = 0; at < line_count; ++at) drop_rare(lines_[at], earlier_[at], least, f);
  }

 private:
  using earlier_counts = std::array<std::uint64_t, word_line::entries>;

  template <class F>
  static void drop_rare(word_line& line, earlier_counts& earlier, std::uint32_t least, F& f) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < word_line::entries && line.count[i] != 0; ++i) {
      const word_key key = line.at(i);
      const std::uint32_t count = line.count[i];
      if (count >= least) {
        earlier[kept] = earlier[i] + count - 1;
        line.put(kept++, key, 1);
      } else {
        f(key, earlier[i] + count);
      }
    }
    for (std::size_t i = kept; i < word_line::entries; ++i) {
      line.put(i, {}, 0);
      earlier[i] = 0;
    }
  }

  /// Words with their counts since the last drop_rare(), at least 1.
  std::vector<word_line> lines_ = std::vector<word_line>(line_count);
  /// The counts from before it.
  std::vector<earlier_counts> earlier_ = std::vector<earlier_counts>(line_count);
};

}  // namespace creek::mapreduce::detail

// SPDX-License-Identifier: Apache-2.0
// Bucket of the word table: the short or the long words of one partition under one lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string_view>

#include <creek/mapreduce/tables/byte_arena.hpp>
#include <creek/mapreduce/word_table/word_directory.hpp>
#include <creek/mapreduce/word_table/word_entry.hpp>

namespace creek::mapreduce::detail {

/// Any thread may add words. Functions that read must not run concurrently with add().
class alignas(64) word_bucket {
 public:
  /// Position of an entry of a line, taken or free.
  struct entry {
    word_segment* segment;
    word_line* line;
    std::size_t i;

    [[nodiscard]] std::uint32_t& count() const noexcept { return line->count[i]; }
    [[nodiscard]] word_key key() const noexcept { return line->at(i); }
  };

  /// Must be called once, before all else; the arguments are those of word_directory.
  void initialise(zero_pool& pool, const hash_factors& factors, std::uint32_t lines, bool is_long) {
    words_.initialise(pool, factors, lines, is_long);
  }

  /// Adds words and permutes `words`. Copies new long words unless they are very long and lie in
  /// `stable`.
  void add(std::span<counted_word> words, std::string_view stable);
  /// Same for a single word and any count.
  void add(const hashed_word& word, std::uint64_t count, std::string_view stable);

  /// Returns the number of different words.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return words_.bytes(); }
  [[nodiscard]] byte_arena& arena() noexcept { return arena_; }
  [[nodiscard]] const byte_arena& arena() const noexcept { return arena_; }
  [[nodiscard]] const word_directory& words() const noexcept { return words_; }
  /// Counts beyond 32 bits: the part that is not in the entry.
  [[nodiscard]] std::map<word_key, std::uint64_t>& carried() noexcept { return carried_; }

  /// Returns whether the words are where they are searched for, and their number is right.
  [[nodiscard]] bool verify() const noexcept;

  /// Calls `f(std::string_view word, std::uint64_t count)` for each word, in no order.
  template <class F>
  void for_each(F& f) const {
    for (word_segment* s : words_.segments()) {
      for (const word_line& line : words_.lines_of(*s)) {
        for (std::size_t i = 0; i < word_line::entries && line.count[i] != 0; ++i) {
          const word_key key = line.at(i);
          const std::uint64_t count = line.count[i] + carried_of(key);
          f(words_.is_long() ? key.long_text() : key.short_text(), count);
        }
      }
    }
  }

 private:
  [[nodiscard]] std::uint64_t carried_of(const word_key& key) const noexcept {
    if (carried_.empty()) return 0;
    const auto found = carried_.find(key);
    return found == carried_.end() ? 0 : found->second;
  }
  void insert(counted_word word, std::uint64_t count, std::string_view stable);

  word_directory words_;
  std::size_t size_ = 0;
  std::map<word_key, std::uint64_t> carried_;
  byte_arena arena_;
  std::mutex lock_;
};

}  // namespace creek::mapreduce::detail

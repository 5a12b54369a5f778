// SPDX-License-Identifier: Apache-2.0
// Writer of a mapper to a word_table: counts frequent words itself, and passes the others on in
// batches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <creek/mapreduce/inputs/words.hpp>
#include <creek/mapreduce/word_table/frequent_words.hpp>
#include <creek/mapreduce/word_table/word_batches.hpp>
#include <creek/mapreduce/word_table/word_table.hpp>

namespace creek::mapreduce {

/// Used by one task at a time; several writers may write to one table concurrently.
class word_writer {
 public:
  explicit word_writer(word_table& table);
  word_writer(const word_writer&) = delete;
  word_writer& operator=(const word_writer&) = delete;

  /// Declares the source of the following words: up to 16 bytes may be read from any position that
  /// ends inside `text`. If `stable`, keys in `text` may be kept as views, else they are copied.
  /// Words from elsewhere are always copied.
  void source(std::string_view text, bool stable) noexcept;

  /// Counts `word` `count` times. The word must stay readable until `flush()`.
  void operator()(std::string_view word, std::uint64_t count = 1) {
    if (count != 1) return count_singly(word, count);
    words_[waiting_] = word;
    if (++waiting_ == max_waiting) count_words();
  }

  /// Counts every word of `text`, which lies in the source; same as for_each_word, but faster.
  void count_all(std::string_view text);

  /// Processes all waiting words. To be called before the source text is freed.
  void flush();

  /// To be called after the last word: moves the frequent words to the batches. Other writers may
  /// be in use.
  void finish();

  /// To be called after `finish()`: moves the waiting words of a partition to the table. Different
  /// tasks may drain different partitions at the same time.
  void drain(std::size_t part);

  /// Returns the number of words counted so far (adding `count` at once counts as one).
  [[nodiscard]] std::uint64_t emitted() const noexcept { return emitted_ + waiting_; }

  /// Moves the words of a batch to their bucket.
  void hand_over(std::size_t bucket);

 private:
  static constexpr std::size_t max_waiting = 256;

  void count_words();
  void count_block(const block_words& words);
  template <class Word>
  void count_rest(std::span<const std::uint16_t> rest, std::size_t words, Word&& word);
  void count_singly(std::string_view word, std::uint64_t count);
  void add_to_batch(const detail::hashed_word& word, bool is_long, std::uint64_t count);
  void drop_rare(std::uint32_t least);
  [[nodiscard]] std::string_view stable_text() const noexcept {
    return stable_ ? text_ : std::string_view{};
  }

  word_table* table_;
  std::string_view text_;
  bool stable_ = false;
  bool borrowed_ = false;  // words in batches may be views of temporary text
  std::size_t waiting_ = 0;
  std::uint64_t emitted_ = 0;
  std::uint64_t next_drop_;
  std::array<std::string_view, max_waiting> words_;
  detail::word_batches batches_;
  detail::frequent_words frequent_;
};

}  // namespace creek::mapreduce

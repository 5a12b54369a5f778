// SPDX-License-Identifier: Apache-2.0
// Writer of a mapper to a word_table: counts frequent words in a table that stays in its core's
// second-level cache, and collects the others by bucket until taking a lock pays.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <creek/mapreduce/inputs/words.hpp>
#include <creek/mapreduce/tables/word_table.hpp>

namespace creek::mapreduce {

/// Used by one task at a time; several caches may write to one table concurrently.
class alignas(128) word_cache {  // neighbours in an array share no cache line
 public:
  explicit word_cache(word_table& table);
  word_cache(const word_cache&) = delete;
  word_cache& operator=(const word_cache&) = delete;

  /// Declares the source of the following words: up to 16 bytes may be read from any position that
  /// ends inside `text`. If `stable`, keys in `text` may be kept as views, else they are copied.
  /// Words from elsewhere are always copied.
  void source(std::string_view text, bool stable) noexcept;

  /// Counts `word` `count` times. The word must stay readable until `flush()`.
  void operator()(std::string_view word, std::uint64_t count = 1) {
    if (count != 1) return count_odd(word, count);
    words_[waiting_] = word;
    if (++waiting_ == batch) count_words();
  }

  /// Counts every word of `text`, which lies in the source; same as for_each_word, but faster.
  void count_all(std::string_view text);

  /// Processes all waiting words. To be called before the source text is freed.
  void flush();

  /// To be called after the last word: moves the words of the cache to the collections. Other
  /// caches may be in use.
  void finish();

  /// To be called after `finish()`: moves the collected words of a partition to the table.
  /// Different tasks may drain different partitions at the same time.
  void drain(std::size_t part);

  /// Returns the number of words counted so far (adding `count` at once counts as one).
  [[nodiscard]] std::uint64_t emitted() const noexcept { return emitted_ + waiting_; }

  // The second tier: interface for the probing code.

  static constexpr std::size_t line_count = 8192;  // half a megabyte, see design 0002

  /// Waiting words by bucket.
  class collections {
   public:
    using counted_word = word_table::counted_word;

    /// Adds a word; returns whether the bucket is now full.
    [[nodiscard]] bool add(const word_table::word_ref& word, std::uint32_t count = 1,
                           bool is_long = false) noexcept {
      const std::size_t bucket = word_table::bucket_of(word.hash, is_long);
      words_[bucket * room + sizes_[bucket]] = word_table::make_counted(word, count);
      return ++sizes_[bucket] == room;
    }
    /// Returns the words of a bucket and empties it.
    [[nodiscard]] std::span<counted_word> take(std::size_t bucket) noexcept {
      return {&words_[bucket * room], std::exchange(sizes_[bucket], 0)};
    }

   private:
    static constexpr std::size_t room = 128;
    static constexpr std::size_t buckets = 2 * word_table::partitions;
    std::array<std::uint32_t, buckets> sizes_{};
    std::unique_ptr<counted_word[]> words_ =
        std::make_unique_for_overwrite<counted_word[]>(buckets * room);
  };

  /// Adds a word to its line, which has room.
  void admit(word_table::line& home, const word_table::word_ref& word) noexcept;
  /// Moves the words of a bucket to the table.
  void hand_over(std::size_t bucket);

 private:
  static constexpr std::size_t batch = 256;

  void count_words();
  void count_block(const block_words& words);
  void count_odd(std::string_view word, std::uint64_t count);
  void collect(const word_table::word_ref& word, bool is_long, std::uint64_t count);
  void drop_rare(std::uint32_t least);
  [[nodiscard]] std::string_view stable_text() const noexcept {
    return stable_ ? text_ : std::string_view{};
  }

  word_table* table_;
  std::string_view text_;
  bool stable_ = false;
  bool borrowed_ = false;  // collected keys may be views of temporary text
  std::size_t waiting_ = 0;
  std::uint64_t emitted_ = 0;
  std::uint64_t next_drop_;
  std::array<std::string_view, batch> words_;
  collections collected_;
  /// Short words with their counts since the last check for rare words, at least 1; `before_` holds
  /// the counts from before it.
  std::vector<word_table::line> lines_;
  std::vector<std::array<std::uint64_t, word_table::line_entries>> before_;
};

}  // namespace creek::mapreduce

// SPDX-License-Identifier: Apache-2.0
// A mapper's way into a word_table: counts frequent words in a table that stays in its core's
// second-level cache, and collects the others by bucket until a lock is worth taking.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <creek/mapreduce/word_table.hpp>
#include <creek/mapreduce/words.hpp>

namespace creek::mapreduce {

/// Owned by one task at a time, several beside each other for one table.
class alignas(128) word_cache {  // neighbours in an array share no line
 public:
  explicit word_cache(word_table& table);
  word_cache(const word_cache&) = delete;
  word_cache& operator=(const word_cache&) = delete;

  /// Says where the following words come from: up to 16 bytes may be read from any place that ends
  /// inside `text`, and when `stable` keys in it may be kept as views, else they are copied. Words
  /// from elsewhere are always copied.
  void source(std::string_view text, bool stable) noexcept;

  /// Counts `word` `count` times. The word must stay readable until `flush()`.
  void operator()(std::string_view word, std::uint64_t count = 1) {
    if (count != 1) return count_odd(word, count);
    words_[waiting_] = word;
    if (++waiting_ == batch) count_words();
  }

  /// Counts every word of `text`, which lies in the source: what `for_each_word` finds, sooner.
  void count_all(std::string_view text);

  /// Looks at everything that waits. Call before the text read from goes away.
  void flush();

  /// After the last word: hands the words of the cache over to the collections. Any other cache may
  /// be at work.
  void finish();

  /// After `finish()`: hands what was collected for a partition over to the table. Different
  /// partitions may be drained by different tasks at the same time.
  void drain(std::size_t part);

  /// Words counted so far, as often as they came (adding `count` at once is once).
  [[nodiscard]] std::uint64_t emitted() const noexcept { return emitted_ + waiting_; }

  // The second tier: what the probing code works with.

  static constexpr std::size_t line_count = 8192;  // half a megabyte, see design 0002

  /// Words that wait, by bucket.
  class collections {
   public:
    using counted_word = word_table::counted_word;

    /// True if the bucket is full now.
    [[nodiscard]] bool add(const word_table::word_ref& word, std::uint32_t count = 1,
                           bool is_long = false) noexcept {
      const std::size_t bucket = word_table::bucket_of(word.hash, is_long);
      words_[bucket * room + sizes_[bucket]] = word_table::make_counted(word, count);
      return ++sizes_[bucket] == room;
    }
    /// The words of a bucket, which is empty then.
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

  /// Takes a word into its line, which has room.
  void admit(word_table::line& home, const word_table::word_ref& word) noexcept;
  /// Brings the words of a bucket to the table.
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
  bool borrowed_ = false;  // keys may be collected that go away with the text
  std::size_t waiting_ = 0;
  std::uint64_t emitted_ = 0;
  std::uint64_t next_drop_;
  std::array<std::string_view, batch> words_;
  collections collected_;
  /// Short words, with their counts since the last look at which of them are rare, at least 1, and
  /// what came before.
  std::vector<word_table::line> lines_;
  std::vector<std::array<std::uint64_t, word_table::line_entries>> before_;
};

}  // namespace creek::mapreduce

// SPDX-License-Identifier: Apache-2.0
// A mapper's way into a word_table: counts frequent words in a table that stays in its core's
// second-level cache, and collects the others by partition until a lock is worth taking.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <creek/mapreduce/word_table.hpp>

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
    if (count != 1) return add_odd(word, count);
    words_[waiting_] = word;
    if (++waiting_ == batch) count_words();
  }

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

  /// Four words of at most 8 bytes, none of which ends in NUL, so that the zero-padded bytes tell
  /// them apart; 0 is free.
  struct alignas(64) line {
    std::uint64_t body[4];
    std::uint64_t count[4];
  };
  static constexpr std::size_t line_count = 4096;  // a quarter megabyte, see design 0002

  /// A word that is not in the cache: which, its first eight bytes and its hash.
  struct miss {
    std::uint64_t low;
    std::uint64_t hash;
    std::uint64_t index;
  };

 private:
  static constexpr std::size_t batch = 256;
  static constexpr std::size_t collected = 128;

  /// Words of a partition, short and long ones apart: what is done with them has no branch on
  /// length then.
  struct collection {
    std::array<word_table::entry, collected> keys;
  };

  void count_words();
  void add_odd(std::string_view word, std::uint64_t count);
  bool admit(const miss& next);
  void collect(const word_table::entry& key, std::size_t part);
  void hand_over(std::size_t bucket);
  void drop_rare();

  word_table* table_;
  std::string_view text_;
  bool stable_ = false;
  bool borrowed_ = false;  // keys may be collected that go away with the text
  std::size_t waiting_ = 0;
  std::uint64_t emitted_ = 0;
  std::uint64_t next_drop_;
  std::array<std::string_view, batch> words_;
  std::array<std::uint32_t, 2 * word_table::partitions> lengths_{};
  std::vector<collection> collections_;  // short and long words of each partition
  std::vector<line> lines_;
};

}  // namespace creek::mapreduce

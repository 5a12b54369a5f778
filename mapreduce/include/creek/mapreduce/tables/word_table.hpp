// SPDX-License-Identifier: Apache-2.0
// Words of a text and their counts: sixteen bytes per entry, short words inside it. One table for
// all mappers; each writes through its own `word_cache`, which counts frequent words itself and
// hands over the rest one bucket at a time. The design is explained in
// docs/design/0002-word-table.md.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include <creek/mapreduce/detail/zero_pool.hpp>
#include <creek/mapreduce/tables/byte_arena.hpp>
#include <creek/tasking/hash.hpp>

namespace creek::mapreduce {

class word_cache;

/// Counting hash table, cut by hash into `partitions`, each with a bucket of short words and one of
/// long words, whose locks are taken once per some hundred words. Functions that read a partition
/// (`size`, `for_each`) must not run concurrently with writers of it.
class word_table {
 public:
  /// Writer through which a mapper emits.
  using writer = word_cache;
  static constexpr std::size_t partitions = 128;

  word_table();
  word_table(const word_table&) = delete;
  word_table& operator=(const word_table&) = delete;

  /// Returns the number of different words in a partition, or in all of them.
  [[nodiscard]] std::size_t size(std::size_t part) const noexcept {
    return buckets_[2 * part].used + buckets_[2 * part + 1].used;
  }
  [[nodiscard]] std::size_t size() const noexcept;

  /// Returns the bytes of the table itself, without the text that it points into.
  [[nodiscard]] std::size_t bytes() const noexcept;
  /// Returns the secret for hashing words.
  [[nodiscard]] const hash_secret& secret() const noexcept { return *secret_; }
  /// Returns the bytes of the copies of keys.
  [[nodiscard]] std::size_t key_bytes() const noexcept;

  /// Calls `f(std::string_view word, std::uint64_t count)` for each word of a partition, in no
  /// order. Views of words that are `is_inline` are valid during the call only.
  template <class F>
  void for_each(std::size_t part, F&& f) const {
    for (const bucket& from : std::span(buckets_).subspan(2 * part, 2)) {
      for (const segment* s : from.segments) {
        for (const line *l = s->lines(), *end = l + from.lines; l != end; ++l) {
          for (std::size_t i = 0; i < line_entries && l->count[i] != 0; ++i) {
            const body held = l->at(i);
            const std::uint64_t count = l->count[i] + from.carried_of(held);
            f(from.is_long ? text_of(held) : held.view(), count);
          }
        }
      }
    }
  }

  /// Returns whether the table stores such a key inside an entry, so that a view of it dies with
  /// the table: the zero-padded bytes tell it from all other keys.
  [[nodiscard]] static constexpr bool is_inline(std::string_view key) noexcept {
    return key.size() - 1 < longest_inline && key.back() != 0;
  }
  [[nodiscard]] static constexpr bool must_copy(std::string_view key) noexcept {
    return is_inline(key);
  }

  /// Returns the copied keys, for a result that outlives the table.
  [[nodiscard]] byte_arena take_arena();

  // The second tier: interface for the cache, the probing code and the tests.

  static constexpr std::size_t longest_inline = 12;
  /// Longer keys do not fit their length in an entry.
  static constexpr std::size_t longest_tagged = 254;
  static constexpr std::uint64_t address_mask = (1ull << 48) - 1;

  /// Twelve bytes that identify a word. For a short word: its bytes, zero-padded. For a long word,
  /// `low` is its address (48 bits, as in user space of x86-64, and of AArch64 without large
  /// addresses) under 16 bits of hash, `high` its place over 8 bits of length (255: the address is
  /// that of a std::string_view).
  struct body {
    std::uint64_t low;
    std::uint32_t high;

    friend bool operator==(const body&, const body&) = default;
    friend auto operator<=>(const body&, const body&) = default;
    /// Returns the bytes of a short word, valid as long as this object.
    [[nodiscard]] std::string_view view() const noexcept {
      const int zeros = high != 0 ? std::countl_zero(high) : 32 + std::countl_zero(low);
      return {reinterpret_cast<const char*>(this),
              longest_inline - static_cast<std::size_t>(zeros) / 8};
    }
  };

  /// Word and its hash.
  struct word_ref {
    std::uint64_t low;
    std::uint32_t high;
    std::uint32_t hash;
  };

  /// Word on its way to a bucket of the table.
  struct counted_word {
    std::uint64_t low;
    std::uint32_t high;
    std::uint32_t place_and_count;  // 24 and 8 bits

    [[nodiscard]] std::uint32_t place() const noexcept { return place_of(place_and_count); }
    [[nodiscard]] std::uint32_t count() const noexcept { return place_and_count >> 24; }
  };
  static constexpr std::uint64_t most_on_the_way = 255;
  /// `count` must be at most 255.
  [[nodiscard]] static constexpr counted_word make_counted(const word_ref& word,
                                                           std::uint32_t count) noexcept {
    return {word.low, word.high, place_of(word.hash) | count << 24};
  }

  /// Returns the bytes of a long word.
  [[nodiscard]] static std::string_view text_of(const body& held) noexcept;

  /// Returns the bits of a hash that select the line in a bucket, and the partition.
  [[nodiscard]] static constexpr std::uint32_t place_of(std::uint32_t hash) noexcept {
    return hash & 0xFFFFFF;
  }
  [[nodiscard]] static constexpr std::size_t part_of(std::uint32_t hash) noexcept {
    return hash >> 25;
  }
  [[nodiscard]] static constexpr std::size_t bucket_of(std::uint32_t hash, bool is_long) noexcept {
    return 2 * part_of(hash) + std::size_t{is_long};
  }

  /// Makes a reference to a word that is not inline and has at most 254 bytes, or to a
  /// std::string_view if `length` is 255. `hash`: all 64 bits; a word_ref keeps the upper half.
  [[nodiscard]] static word_ref make_long(const void* address, std::size_t length,
                                          std::uint64_t hash) noexcept {
    const auto upper = static_cast<std::uint32_t>(hash >> 32);
    return {reinterpret_cast<std::uintptr_t>(address) | hash << 48,
            place_of(upper) << 8 | static_cast<std::uint32_t>(length), upper};
  }

  /// Four entries in a cache line, filled from the first. Words and counts are stored apart: a
  /// vector load of the words must not wait for the store of a count that was just incremented.
  struct alignas(64) line {
    std::uint32_t word[3][4];
    std::uint32_t count[4];  // 0: free

    [[nodiscard]] body at(std::size_t i) const noexcept {
      return {word[0][i] | std::uint64_t{word[1][i]} << 32, word[2][i]};
    }
    void put(std::size_t i, const body& what, std::uint32_t times) noexcept {
      word[0][i] = static_cast<std::uint32_t>(what.low);
      word[1][i] = static_cast<std::uint32_t>(what.low >> 32);
      word[2][i] = what.high;
      count[i] = times;
    }
  };
  static constexpr std::size_t line_entries = 4;

  /// Lines whose words agree in the first `depth` bits of `place`; split into two when full.
  struct alignas(64) segment {
    segment* overflow = nullptr;  // for words with equal bits of `place`
    std::uint32_t used = 0;       // entries
    std::uint32_t depth = 0;

    [[nodiscard]] line* lines() noexcept { return reinterpret_cast<line*>(this + 1); }
    [[nodiscard]] const line* lines() const noexcept {
      return reinterpret_cast<const line*>(this + 1);
    }
  };
  static constexpr std::uint32_t max_depth = 14;
  static constexpr std::uint32_t line_bits = 10;  // of `place`, select the segment's line

  /// Bucket with the short or the long words of a partition: an extendible hash table
  /// [Fagin 1979], so that growing blocks nobody for long, frees nothing and copies
  /// little.
  struct alignas(64) bucket {
    std::vector<segment*> directory;  // by the first `depth` bits of `place`; empty at first
    std::uint32_t shift = 24;         // 24 - depth
    std::uint32_t lines = 0;          // per segment, without its first line
    std::uint32_t limit = 0;          // maximum entries per segment
    bool is_long = false;
    std::size_t used = 0;  // entries
    std::vector<segment*> segments;
    std::map<body, std::uint64_t> carried;  // the part of counts beyond 32 bits
    byte_arena arena;
    std::mutex lock;

    [[nodiscard]] std::uint32_t line_of(std::uint32_t place) const noexcept {
      return (place & ((1u << line_bits) - 1)) * lines >> line_bits;
    }
    /// Returns a line that is valid until the table's end; its words may move to another segment.
    [[nodiscard]] line* home(std::uint32_t place) const noexcept {
      return directory[place >> shift]->lines() + line_of(place);
    }
    [[nodiscard]] std::uint64_t carried_of(const body& what) const noexcept {
      if (carried.empty()) return 0;
      const auto found = carried.find(what);
      return found == carried.end() ? 0 : found->second;
    }
  };

  /// Position of an entry of a line, taken or free.
  struct entry {
    segment* in;
    line* at;
    std::size_t i;
  };

  /// Adds words to a bucket and permutes `words`. Copies new long words unless they are very long
  /// and lie in `stable`. Any thread.
  void add(std::size_t to, std::span<counted_word> words, std::string_view stable);

  /// Same for a single word and any count.
  void add(std::size_t to, const word_ref& word, std::uint64_t count, std::string_view stable);

 private:
  void insert(bucket& to, counted_word word, std::uint64_t count, std::string_view stable);
  void begin(bucket& to);
  segment* make_segment(bucket& to, std::uint32_t depth);
  segment* room_for(bucket& to, std::uint32_t place);
  void grow(bucket& to);
  void split(bucket& to, std::uint32_t place);

  const hash_secret* secret_ = &current_hash_secret();
  std::array<bucket, 2 * partitions> buckets_;
  detail::zero_pool pool_;
};

}  // namespace creek::mapreduce

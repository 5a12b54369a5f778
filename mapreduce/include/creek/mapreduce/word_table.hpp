// SPDX-License-Identifier: Apache-2.0
// Counts byte strings at the speed of memory: sixteen bytes an entry, short strings inside it, long
// ones as tagged views into the input. Strings are hashed as they come, wait in two short queues
// while their cache lines are on the way, and are looked up 64 at a time by vector code. Why it
// looks like this: docs/design/0002-word-table.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include <creek/mapreduce/byte_arena.hpp>
#include <creek/mapreduce/detail/byte_hash.hpp>

namespace creek::mapreduce {

/// A counting hash table owned by one task at a time. It is cut by hash in `partitions` tables that
/// grow on their own (so growing never stops the owner for long) and that several tasks may merge
/// and read at once, a partition each, without locks.
class alignas(128) word_table {  // neighbours in an array share no line
 public:
  static constexpr std::size_t partitions = 128;

  word_table();
  word_table(word_table&& other) noexcept;
  word_table& operator=(word_table&& other) noexcept;
  word_table(const word_table&) = delete;
  word_table& operator=(const word_table&) = delete;
  ~word_table();

  /// Says where the following keys come from: up to 16 bytes may be read from any place that ends
  /// inside `text`, and when `stable` keys in it are kept as views, else copied. Keys from
  /// elsewhere are always copied.
  void source(std::string_view text, bool stable) noexcept;

  /// Counts `word` `count` times. The word must stay readable until `flush()`.
  void operator()(std::string_view word, std::uint64_t count = 1) {
    const std::size_t n = word.size();
    if (n > 16 || static_cast<std::size_t>(word.data() - safe_begin_) >= safe_bytes_) {
      return add_slow(word, count);
    }
    const std::uint64_t low = detail::load8(word.data()) & detail::keep_low[n];
    const std::uint64_t high = detail::load8(word.data() + 8) & detail::keep_high[n];
    push(word, low, detail::hash16(low, high, n), count);
  }

  /// Looks up everything that waits in the queues. Call before the text read from goes away and
  /// before merging or reading.
  void flush();

  /// Adds the counts of partition `part` of `other` and frees it there. Different partitions may be
  /// merged by different tasks at the same time. Keys that `other` copied stay in its arena.
  void merge(word_table& other, std::size_t part);

  /// Number of different words in a partition, or in all.
  [[nodiscard]] std::size_t size(std::size_t part) const noexcept { return parts_[part].used; }
  [[nodiscard]] std::size_t size() const noexcept;

  /// Bytes of the tables themselves, without the text that they point into.
  [[nodiscard]] std::size_t bytes() const noexcept;

  /// Frees a partition.
  void clear(std::size_t part) noexcept;

  /// Calls `f(std::string_view word, std::uint64_t count)` for each word of a partition, in no
  /// order. Views of words of at most eight bytes are valid during the call only.
  template <class F>
  void for_each(std::size_t part, F&& f) const {
    const part_table& table = parts_[part];
    for (const line* l = table.lines; l != table.lines + table.size; ++l) {
      for (std::size_t i = 0; i < line_entries && l->meta[i] != 0; ++i) {
        const entry e{l->body[i], l->meta[i]};
        f(e.key(), e.count());
      }
    }
  }

  /// Keys counted so far, as often as they came (adding `count` at once is once).
  [[nodiscard]] std::uint64_t emitted() const noexcept { return emitted_; }

  /// True if the table holds keys of this length itself, so that they die with it.
  [[nodiscard]] static constexpr bool is_inline(std::size_t length) noexcept { return length <= 8; }
  [[nodiscard]] static constexpr bool must_copy(std::string_view key) noexcept {
    return is_inline(key.size());
  }

  /// Moves the copied keys out, for a result that outlives the table.
  [[nodiscard]] byte_arena take_arena() noexcept { return std::move(arena_); }

  // The second tier: what the probing code and the tests work with.

  /// A key and its count in 16 bytes, or a key on its way to the table.
  struct entry {
    /// At most 8 bytes: the key, zero-padded. Longer: its address (48 bits, as user space of x86-64
    /// and of AArch64 without large addresses has them) under 16 bits of hash.
    std::uint64_t body = 0;
    /// Length (255: the address is that of a std::string_view), 8 bits of hash, 48 bits of count;
    /// 0 if the entry is free.
    std::uint64_t meta = 0;

    [[nodiscard]] std::uint64_t count() const noexcept { return meta & count_mask; }
    [[nodiscard]] std::size_t short_length() const noexcept { return meta >> 48 & 0xFF; }
    [[nodiscard]] std::string_view key() const noexcept;
    /// The 24 hash bits that say the line; the entry holds them all, so growing reads no text.
    [[nodiscard]] std::uint32_t place() const noexcept;
  };

  /// Four entries in a cache line. Bodies stand apart from counts: a vector load of the bodies
  /// must not wait for the store of a count that was just raised.
  struct alignas(64) line {
    std::uint64_t body[4];
    std::uint64_t meta[4];
  };
  static constexpr std::size_t line_entries = 4;
  static constexpr std::uint64_t count_mask = (1ull << 48) - 1;
  static constexpr std::uint64_t address_mask = (1ull << 48) - 1;

  struct part_table {
    line* lines = nullptr;
    std::uint32_t size = 0;   // in lines
    std::uint32_t used = 0;   // entries
    std::uint32_t limit = 0;  // entries; more, and it grows
    bool mapped = false;      // by mmap, not from the heap

    [[nodiscard]] line* at(std::uint32_t place) const noexcept {
      return lines + (std::uint64_t{place} * size >> 24);
    }
  };

  /// A key that waits for its line.
  struct pending {
    line* home;
    entry key;
  };

  /// Keys that wait. A table has two, for short and for long ones.
  struct queue {
    static constexpr std::size_t capacity = 64;
    std::array<pending, capacity> keys;
    std::size_t length = 0;
  };

 private:
  void push(std::string_view word, std::uint64_t low, std::uint64_t hash, std::uint64_t count) {
    const std::size_t n = word.size();
    const bool is_long = n > 8;
    const auto place = static_cast<std::uint32_t>(hash >> 33) & 0xFFFFFF;
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(word.data());
    queue& q = queues_[is_long];
    pending& next = q.keys[q.length];
    next.key.body = is_long ? address | std::uint64_t{place} << 48 : low;
    next.key.meta = ((place >> 8 & 0xFF00) | n) << 48 | count;
    next.home = parts_[hash >> 57].at(place);
    __builtin_prefetch(next.home, 1);
    if (++q.length == queue::capacity) drain(q, is_long);
  }

  void add_slow(std::string_view word, std::uint64_t count);
  void drain(queue& q, bool is_long);
  void insert(entry key, std::size_t part, bool kept, queue* waiting);
  void grow(std::size_t part, queue* waiting);
  [[nodiscard]] std::uint64_t keep(std::string_view key);

  std::array<part_table, partitions> parts_;
  const char* safe_begin_ = nullptr;
  std::size_t safe_bytes_ = 0;
  std::string_view stable_;
  byte_arena arena_;
  std::uint64_t emitted_ = 0;
  std::unique_ptr<queue[]> queues_;
};

}  // namespace creek::mapreduce

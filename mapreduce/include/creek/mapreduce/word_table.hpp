// SPDX-License-Identifier: Apache-2.0
// The words of a text and their counts: sixteen bytes an entry, short words inside it. One table
// for all mappers; each writes through a `word_cache` of its own, which counts frequent words
// itself and hands over the rest a partition at a time. Why it looks like this:
// docs/design/0002-word-table.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include <creek/mapreduce/byte_arena.hpp>
#include <creek/mapreduce/detail/zero_pool.hpp>

namespace creek::mapreduce {

class word_cache;

/// A counting hash table cut by hash in `partitions`, each with a lock that is taken once for some
/// hundred words. What reads a partition (`size`, `for_each`) must not run beside what writes it.
class word_table {
 public:
  /// What a mapper emits to.
  using writer = word_cache;
  static constexpr std::size_t partitions = 128;

  word_table();
  word_table(const word_table&) = delete;
  word_table& operator=(const word_table&) = delete;

  /// Number of different words in a partition, or in all.
  [[nodiscard]] std::size_t size(std::size_t part) const noexcept { return parts_[part].used; }
  [[nodiscard]] std::size_t size() const noexcept;

  /// Bytes of the table itself, without the text that it points into.
  [[nodiscard]] std::size_t bytes() const noexcept;
  /// Bytes of the copies of keys.
  [[nodiscard]] std::size_t key_bytes() const noexcept;

  /// Calls `f(std::string_view word, std::uint64_t count)` for each word of a partition, in no
  /// order. Views of words of at most eight bytes are valid during the call only.
  template <class F>
  void for_each(std::size_t part, F&& f) const {
    for (const segment* s : parts_[part].segments) {
      for (const line *l = s->lines(), *end = l + parts_[part].lines; l != end; ++l) {
        for (std::size_t i = 0; i < line_entries && l->meta[i] != 0; ++i) {
          const entry e{l->body[i], l->meta[i]};
          f(e.key(), e.count());
        }
      }
    }
  }

  /// True if the table holds keys of this length itself, so that they die with it.
  [[nodiscard]] static constexpr bool is_inline(std::size_t length) noexcept { return length <= 8; }
  [[nodiscard]] static constexpr bool must_copy(std::string_view key) noexcept {
    return is_inline(key.size());
  }

  /// Moves the copied keys out, for a result that outlives the table.
  [[nodiscard]] byte_arena take_arena();

  // The second tier: what the cache, the probing code and the tests work with.

  /// A key and its count in 16 bytes, in the table or on its way to it.
  struct entry {
    /// At most 8 bytes: the key, zero-padded. Longer: its address (48 bits, as user space of x86-64
    /// and of AArch64 without large addresses has them) under 16 bits of hash.
    std::uint64_t body;
    /// Length (255: the address is that of a std::string_view), 8 bits of hash, 48 bits of count;
    /// 0 if the entry is free.
    std::uint64_t meta;

    [[nodiscard]] std::uint64_t count() const noexcept { return meta & count_mask; }
    [[nodiscard]] std::size_t short_length() const noexcept { return meta >> 48 & 0xFF; }
    [[nodiscard]] std::string_view key() const noexcept;
    /// The 24 hash bits that say the line; the entry holds them all, so splitting reads no text.
    [[nodiscard]] std::uint32_t place() const noexcept;
  };

  /// Those bits of a key's hash, and the partition.
  [[nodiscard]] static constexpr std::uint32_t place_of(std::uint64_t hash) noexcept {
    return static_cast<std::uint32_t>(hash >> 33) & 0xFFFFFF;
  }
  [[nodiscard]] static constexpr std::size_t part_of(std::uint64_t hash) noexcept {
    return hash >> 57;
  }

  /// Four entries in a cache line. Bodies stand apart from counts: a vector load of the bodies
  /// must not wait for the store of a count that was just raised.
  struct alignas(64) line {
    std::uint64_t body[4];
    std::uint64_t meta[4];
  };
  static constexpr std::size_t line_entries = 4;
  static constexpr std::uint64_t count_mask = (1ull << 48) - 1;
  static constexpr std::uint64_t address_mask = (1ull << 48) - 1;
  /// Longer keys have no room for their length in an entry.
  static constexpr std::size_t longest_tagged = 254;

  /// Lines whose words agree in the first `depth` bits of `place`; split in two when full.
  struct alignas(64) segment {
    segment* overflow = nullptr;  // of words that no further bit tells apart
    std::uint32_t used = 0;       // entries
    std::uint32_t depth = 0;

    [[nodiscard]] line* lines() noexcept { return reinterpret_cast<line*>(this + 1); }
    [[nodiscard]] const line* lines() const noexcept {
      return reinterpret_cast<const line*>(this + 1);
    }
  };
  static constexpr std::uint32_t max_depth = 14;
  static constexpr std::uint32_t line_bits = 10;  // of `place`, say the line in a segment

  /// Where a partition's words are: an extendible hash table (Fagin, Nievergelt, Pippenger, Strong,
  /// TODS 1979), so that growing stops nobody for long, frees nothing and copies little.
  struct alignas(64) partition {
    std::vector<segment*> directory;  // by the first `depth` bits of `place`
    std::uint32_t shift = 24;         // 24 - depth
    std::uint32_t lines = 0;          // of a segment, its first line not counted
    std::uint32_t limit = 0;          // entries of a segment
    std::size_t used = 0;             // entries
    std::vector<segment*> segments;
    byte_arena arena;
    std::mutex lock;

    [[nodiscard]] std::uint32_t line_of(std::uint32_t place) const noexcept {
      return (place & ((1u << line_bits) - 1)) * lines >> line_bits;
    }
    /// Valid memory for the life of the table, but its words may move to another segment.
    [[nodiscard]] line* home(std::uint32_t place) const noexcept {
      return directory[place >> shift]->lines() + line_of(place);
    }
  };

  /// A key of at most 254 bytes; of a short one `body` is its bytes, of a long one its address.
  [[nodiscard]] static constexpr entry make_entry(std::uint64_t body, std::size_t length,
                                                  std::uint64_t hash,
                                                  std::uint64_t count) noexcept {
    const std::uint64_t place = place_of(hash);
    if (!is_inline(length)) body |= place << 48;
    return {body, ((place >> 8 & 0xFF00) | length) << 48 | count};
  }

  /// Adds the counts of `keys`, all of partition `part` and all of at most 8 bytes, or all longer.
  /// New long keys are copied unless they are long and lie in `stable`. Permutes `keys`. Any
  /// thread.
  void add(std::size_t part, bool are_long, std::span<entry> keys, std::string_view stable);

  /// The same for a key that no entry has the room for.
  void add_huge(std::string_view key, std::uint64_t hash, std::uint64_t count,
                std::string_view stable);

 private:
  void insert(partition& part, entry key, std::string_view stable);
  segment* make_segment(partition& part, std::uint32_t depth);
  segment* room_for(partition& part, std::uint32_t place);
  void split(partition& part, std::uint32_t place);

  std::array<partition, partitions> parts_;
  detail::zero_pool pool_;
};

}  // namespace creek::mapreduce

// SPDX-License-Identifier: Apache-2.0
// Entries of the word table and the cache lines that hold them: sixteen bytes per word, twelve that
// identify it and four of count. Why they look so: docs/design/0002-word-table.md.
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <creek/core/language.hpp>

namespace creek::mapreduce::detail {

/// Longer words do not fit into an entry.
inline constexpr std::size_t longest_inline = 12;
/// The lengths of longer words do not fit into an entry.
inline constexpr std::size_t longest_tagged = 254;
inline constexpr std::uint64_t address_mask = (std::uint64_t{1} << 48) - 1;
inline constexpr std::size_t word_partitions = 128;

/// Returns whether an entry holds the bytes of such a word: zero-padded, they tell it from all
/// others.
[[nodiscard]] constexpr bool is_inline(std::string_view word) noexcept {
  return word.size() - 1 < longest_inline && word.back() != 0;
}

/// Twelve bytes that identify a word. For a short word: its bytes, zero-padded. For a long word,
/// `low` is its address (48 bits, as in user space of x86-64, and of AArch64 without large
/// addresses) under 16 bits of hash, `high` its index over 8 bits of length (255: the address is
/// that of a std::string_view).
struct word_key {
  std::uint64_t low;
  std::uint32_t high;

  friend bool operator==(const word_key&, const word_key&) = default;
  friend auto operator<=>(const word_key&, const word_key&) = default;
  /// Returns the bytes of a short word, valid as long as this object.
  [[nodiscard]] std::string_view short_text() const noexcept {
    const int zeros = high != 0 ? std::countl_zero(high) : 32 + std::countl_zero(low);
    return {reinterpret_cast<const char*>(this),
            longest_inline - static_cast<std::size_t>(zeros) / 8};
  }
  /// Returns the bytes of a long word.
  [[nodiscard]] std::string_view long_text() const noexcept {
    const std::size_t length = high & 0xFF;
    const auto address = static_cast<std::uintptr_t>(low & address_mask);
    if (length > longest_tagged) return *reinterpret_cast<const std::string_view*>(address);
    return {reinterpret_cast<const char*>(address), length};
  }
};

/// Returns the bits of a hash that select the segment and the line in a bucket.
[[nodiscard]] constexpr std::uint32_t index_of(std::uint32_t hash) noexcept {
  return hash & 0xFFFFFF;
}
/// Returns the number of the bucket with the short or the long words of the hash's partition.
[[nodiscard]] constexpr std::size_t bucket_of(std::uint32_t hash, bool is_long) noexcept {
  return 2 * (hash >> 25) + std::size_t{is_long};
}

/// Word and its hash.
struct hashed_word {
  std::uint64_t low;
  std::uint32_t high;
  std::uint32_t hash;

  /// Makes a reference to a word that is not inline and has at most 254 bytes, or to a
  /// std::string_view if `length` is 255. `hash`: all 64 bits; the result keeps the upper half.
  [[nodiscard]] static hashed_word make_long(const void* address, std::size_t length,
                                             std::uint64_t hash) noexcept {
    const auto upper = static_cast<std::uint32_t>(hash >> 32);
    return {reinterpret_cast<std::uintptr_t>(address) | hash << 48,
            index_of(upper) << 8 | static_cast<std::uint32_t>(length), upper};
  }
};

/// Word and count on their way to a bucket of the table.
struct counted_word {
  static constexpr std::uint64_t max_count = 255;

  std::uint64_t low;
  std::uint32_t high;
  std::uint32_t index_and_count;  // 24 and 8 bits

  /// `count` must be at most `max_count`.
  [[nodiscard]] static constexpr counted_word make(const hashed_word& word,
                                                   std::uint32_t count) noexcept {
    return {word.low, word.high, index_of(word.hash) | count << 24};
  }
  [[nodiscard]] std::uint32_t index() const noexcept { return index_of(index_and_count); }
  [[nodiscard]] std::uint32_t count() const noexcept { return index_and_count >> 24; }
};

/// Four entries in a cache line, filled from the first. Words and counts are stored apart: a vector
/// load of the words must not wait for the store of a count that was just incremented.
struct alignas(64) word_line {
  static constexpr std::size_t entries = 4;

  std::uint32_t word[3][entries];
  std::uint32_t count[entries];  // 0: free

  [[nodiscard]] bool full() const noexcept { return count[entries - 1] != 0; }
  [[nodiscard]] word_key at(std::size_t i) const noexcept {
    return {word[0][i] | std::uint64_t{word[1][i]} << 32, word[2][i]};
  }
  void put(std::size_t i, const word_key& key, std::uint32_t times) noexcept {
    word[0][i] = static_cast<std::uint32_t>(key.low);
    word[1][i] = static_cast<std::uint32_t>(key.low >> 32);
    word[2][i] = key.high;
    count[i] = times;
  }
};
static_assert(sizeof(word_line) == 64);
static_assert(std::endian::native == std::endian::little, "short words are loaded as integers");

}  // namespace creek::mapreduce::detail

// SPDX-License-Identifier: Apache-2.0
// Hash of short byte strings by one 128-bit multiplication over two masked loads; xxHash for long.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <creek/mapreduce/detail/hash_secret.hpp>

namespace creek::mapreduce::detail {

[[nodiscard]] inline std::uint64_t load8(const char* p) noexcept {
  std::uint64_t x;
  std::memcpy(&x, p, sizeof(x));
  return x;
}

/// Masks that keep the first n of the first eight bytes of a string (little-endian loads).
inline constexpr std::array<std::uint64_t, 17> keep_low = [] {
  std::array<std::uint64_t, 17> masks{};
  for (unsigned n = 0; n < 17; ++n) masks[n] = n >= 8 ? ~0ull : (1ull << (8 * n)) - 1;
  return masks;
}();

/// Masks that keep what of the first n bytes lies in the second eight.
inline constexpr std::array<std::uint64_t, 17> keep_high = [] {
  std::array<std::uint64_t, 17> masks{};
  for (unsigned n = 9; n < 17; ++n) masks[n] = n == 16 ? ~0ull : (1ull << (8 * (n - 8))) - 1;
  return masks;
}();

/// A product of 128 bits, folded, as wyhash does [Wang 2019]. With a factor of 0 the other one
/// would not count, so the callers see to it that neither is.
[[nodiscard]] constexpr std::uint64_t multiply_and_fold(std::uint64_t a, std::uint64_t b) noexcept {
  __extension__ using wide = unsigned __int128;
  // The lower half by a multiplication of its own: GCC 12 keeps a product of 128 bits in memory.
  return a * b ^ static_cast<std::uint64_t>(static_cast<wide>(a) * b >> 64);
}

/// Hash of a string of at most 16 bytes, zero-padded; the length is mixed in because a byte string
/// may end in NUL bytes.
[[nodiscard]] constexpr std::uint64_t hash16(std::uint64_t low, std::uint64_t high,
                                             std::uint64_t length,
                                             const hash_factors& by) noexcept {
  constexpr std::uint64_t instead_of_zero = 0xE7037ED1A0B428DBull;
  const std::uint64_t a = low ^ by.low;
  const std::uint64_t b = (high ^ by.high) + length * 0xA0761D6478BD642Full;
  return multiply_and_fold(a != 0 ? a : instead_of_zero, b != 0 ? b : instead_of_zero);
}

/// A hash of such a string that is the same whatever NUL bytes it ends in, for where those are
/// told apart afterwards, and in few instructions: strings that differ only in the first bit of the
/// eighth or sixteenth byte, two or four, have one hash.
[[nodiscard]] constexpr std::uint64_t hash_padded(std::uint64_t low, std::uint64_t high,
                                                  const hash_factors& by) noexcept {
  return multiply_and_fold((low ^ by.low) | hash_factors::first_bit,
                           (high ^ by.high) | hash_factors::first_bit);
}

/// Its upper half, which is better mixed, for a string of at most 15 bytes.
[[nodiscard]] constexpr std::uint32_t hash_upper(std::uint64_t low, std::uint64_t high,
                                                 const hash_factors& by) noexcept {
  // The second factor has its first bit from `by`.
  const std::uint64_t hash =
      multiply_and_fold((low ^ by.low) | hash_factors::first_bit, high ^ by.high);
  return static_cast<std::uint32_t>(hash >> 32);
}

/// Hash of more than 16 bytes, by xxHash.
[[nodiscard]] std::uint64_t hash_long(std::string_view bytes, const hash_secret& by) noexcept;

/// Hash of any byte string; reads exactly its bytes.
[[nodiscard]] inline std::uint64_t hash_bytes(std::string_view bytes,
                                              const hash_secret& by) noexcept {
  if (bytes.size() > 16) return hash_long(bytes, by);
  char padded[16] = {};
  if (!bytes.empty()) std::memcpy(padded, bytes.data(), bytes.size());
  return hash16(load8(padded), load8(padded + 8), bytes.size(), by.factors);
}

/// The same by hash_padded, for the word table.
[[nodiscard]] inline std::uint64_t hash_word(std::string_view bytes,
                                             const hash_secret& by) noexcept {
  if (bytes.size() > 16) return hash_long(bytes, by);
  char padded[16] = {};
  if (!bytes.empty()) std::memcpy(padded, bytes.data(), bytes.size());
  return hash_padded(load8(padded), load8(padded + 8), by.factors);
}

}  // namespace creek::mapreduce::detail

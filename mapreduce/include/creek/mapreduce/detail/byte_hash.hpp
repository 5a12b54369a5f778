// SPDX-License-Identifier: Apache-2.0
// Hash of short byte strings by one 128-bit product of two masked loads; xxHash for long ones.
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

/// Masks that keep the first n bytes of the first eight bytes of a string (little-endian loads).
inline constexpr std::array<std::uint64_t, 17> keep_low = [] {
  std::array<std::uint64_t, 17> masks{};
  for (unsigned n = 0; n < 17; ++n) masks[n] = n >= 8 ? ~0ull : (1ull << (8 * n)) - 1;
  return masks;
}();

/// Masks that keep those of the first n bytes that lie in the second eight bytes.
inline constexpr std::array<std::uint64_t, 17> keep_high = [] {
  std::array<std::uint64_t, 17> masks{};
  for (unsigned n = 9; n < 17; ++n) masks[n] = n == 16 ? ~0ull : (1ull << (8 * (n - 8))) - 1;
  return masks;
}();

/// Returns a folded 128-bit product, as in wyhash [Wang 2019]. A factor of 0 would cancel the other
/// one, so the callers make sure that neither is 0.
[[nodiscard]] constexpr std::uint64_t multiply_and_fold(std::uint64_t a, std::uint64_t b) noexcept {
  __extension__ using wide = unsigned __int128;
  // The lower half is a separate multiplication: GCC 12 keeps a 128-bit product in memory.
  return a * b ^ static_cast<std::uint64_t>(static_cast<wide>(a) * b >> 64);
}

/// Hash of a string of at most 16 bytes, zero-padded; the length is mixed in because a string may
/// end in NUL bytes.
[[nodiscard]] constexpr std::uint64_t hash16(std::uint64_t low, std::uint64_t high,
                                             std::uint64_t length,
                                             const hash_factors& by) noexcept {
  constexpr std::uint64_t instead_of_zero = 0xE7037ED1A0B428DBull;
  const std::uint64_t a = low ^ by.low;
  const std::uint64_t b = (high ^ by.high) + length * 0xA0761D6478BD642Full;
  return multiply_and_fold(a != 0 ? a : instead_of_zero, b != 0 ? b : instead_of_zero);
}

/// Hash of such a string that ignores trailing NUL bytes, for callers that compare those later;
/// takes few instructions. Strings that differ only in the top bit of the eighth or sixteenth byte
/// (two or four of them) have the same hash.
[[nodiscard]] constexpr std::uint64_t hash_padded(std::uint64_t low, std::uint64_t high,
                                                  const hash_factors& by) noexcept {
  return multiply_and_fold((low ^ by.low) | hash_factors::first_bit,
                           (high ^ by.high) | hash_factors::first_bit);
}

/// Upper, better mixed half of the hash of a string of at most 15 bytes.
[[nodiscard]] constexpr std::uint32_t hash_upper(std::uint64_t low, std::uint64_t high,
                                                 const hash_factors& by) noexcept {
  // The second factor's top bit comes from `by`.
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

/// Like hash_bytes but with hash_padded, for the word table.
[[nodiscard]] inline std::uint64_t hash_word(std::string_view bytes,
                                             const hash_secret& by) noexcept {
  if (bytes.size() > 16) return hash_long(bytes, by);
  char padded[16] = {};
  if (!bytes.empty()) std::memcpy(padded, bytes.data(), bytes.size());
  return hash_padded(load8(padded), load8(padded + 8), by.factors);
}

}  // namespace creek::mapreduce::detail

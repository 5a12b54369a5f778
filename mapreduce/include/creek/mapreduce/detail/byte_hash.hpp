// SPDX-License-Identifier: Apache-2.0
// Hash of short byte strings by one 128-bit multiplication over two masked loads; xxHash for long.
#pragma once

#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

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

/// A string of at most 16 bytes, zero-padded, and its hash. Multiply and fold, as wyhash does
/// (Wang Yi, 2019); the length is mixed in because a byte string may end in NUL bytes.
[[nodiscard]] constexpr std::uint64_t hash16(std::uint64_t low, std::uint64_t high,
                                             std::uint64_t length) noexcept {
  __extension__ using wide = unsigned __int128;
  const wide product = static_cast<wide>(low ^ 0x9E3779B97F4A7C15ull) *
                       ((high ^ 0xD6E8FEB86659FD93ull) + length * 0xA0761D6478BD642Full);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// A hash of such a string that is the same whatever NUL bytes it ends in, for where those are
/// told apart afterwards: a multiplication less.
[[nodiscard]] constexpr std::uint64_t hash_padded(std::uint64_t low, std::uint64_t high) noexcept {
  __extension__ using wide = unsigned __int128;
  const wide product =
      static_cast<wide>(low ^ 0x9E3779B97F4A7C15ull) * (high ^ 0xD6E8FEB86659FD93ull);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// The upper half, which is better mixed where `high` has few bits.
[[nodiscard]] constexpr std::uint32_t hash_upper(std::uint64_t low, std::uint64_t high) noexcept {
  return static_cast<std::uint32_t>(hash_padded(low, high) >> 32);
}

/// Hash of any byte string; reads exactly its bytes.
[[nodiscard]] inline std::uint64_t hash_bytes(std::string_view bytes) noexcept {
  if (bytes.size() > 16) return XXH3_64bits(bytes.data(), bytes.size());
  char padded[16] = {};
  if (!bytes.empty()) std::memcpy(padded, bytes.data(), bytes.size());
  return hash16(load8(padded), load8(padded + 8), bytes.size());
}

/// The same by hash_padded.
[[nodiscard]] inline std::uint64_t hash_word(std::string_view bytes) noexcept {
  if (bytes.size() > 16) return XXH3_64bits(bytes.data(), bytes.size());
  char padded[16] = {};
  if (!bytes.empty()) std::memcpy(padded, bytes.data(), bytes.size());
  return hash_padded(load8(padded), load8(padded + 8));
}

}  // namespace creek::mapreduce::detail

// SPDX-License-Identifier: Apache-2.0
// Loads of short byte strings where some bytes after their end may be read as well: without a
// branch by length.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <creek/tasking/hash.hpp>

namespace creek::mapreduce::detail {

static_assert(std::endian::native == std::endian::little, "byte strings are loaded as integers");

[[nodiscard]] inline std::uint64_t load8(const char* p) noexcept {
  std::uint64_t x;
  std::memcpy(&x, p, sizeof(x));
  return x;
}

/// Masks that keep the first n bytes of the first eight bytes of a string.
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

/// Returns the bytes of a string of at most 16 bytes; reads 16 bytes from its begin.
[[nodiscard]] inline padded_bytes pad_readable_bytes(std::string_view bytes) noexcept {
  const std::size_t n = bytes.size();
  return {load8(bytes.data()) & keep_low[n], load8(bytes.data() + 8) & keep_high[n]};
}

}  // namespace creek::mapreduce::detail

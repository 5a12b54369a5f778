// SPDX-License-Identifier: Apache-2.0
// Runs of bytes that words are made of: letters and digits of ASCII, the apostrophe, and all bytes
// above ASCII. Vector code chosen for the CPU at run time classifies 64 bytes at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace creek::text::detail {

/// Maximum bytes of a block: positions fit 16 bits, and all of it stays in L1.
inline constexpr std::size_t run_block = 4096;

/// The runs of a block, and facts about its bytes, of which bit i % 64 of word i / 64 is for byte
/// i.
struct word_runs {
  std::array<std::uint16_t, run_block + 64> at;           // begins and ends, in turn
  std::size_t count;                                      // of them; even
  std::size_t groups;                                     // of 64 bytes
  std::array<std::uint64_t, run_block / 64 + 1> special;  // apostrophes, bytes above ASCII
  std::array<std::uint64_t, run_block / 64 + 1> capital;  // of ASCII
};

/// Finds the runs in the `size` bytes at `text`, at most `run_block`. A run that touches the end
/// ends there. Digits are parts of runs if `digits`. Reads nothing outside.
void find_word_runs(const unsigned char* text, std::size_t size, bool digits,
                    word_runs& runs) noexcept;

/// Returns whether a bit of `mask` is set from position `begin` to before `end`, which is larger.
[[nodiscard]] inline bool any_set(const std::array<std::uint64_t, run_block / 64 + 1>& mask,
                                  std::size_t begin, std::size_t end) noexcept {
  const std::size_t first = begin / 64, last = (end - 1) / 64;
  const std::uint64_t from = ~std::uint64_t{0} << begin % 64;
  const std::uint64_t to = ~std::uint64_t{0} >> (63 - (end - 1) % 64);
  if (first == last) return (mask[first] & from & to) != 0;
  std::uint64_t any = (mask[first] & from) | (mask[last] & to);
  for (std::size_t i = first + 1; i < last; ++i) any |= mask[i];
  return any != 0;
}

}  // namespace creek::text::detail

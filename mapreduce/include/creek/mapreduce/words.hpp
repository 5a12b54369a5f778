// SPDX-License-Identifier: Apache-2.0
// Words of a text: maximal runs of bytes that are not ASCII white space. The borders are found 64
// bytes at a time by vector code chosen for the CPU at run time; what is done with a word is
// inlined.
#pragma once

#include <array>
#include <creek/core/charge.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace creek::mapreduce {

/// True for the six bytes that part words: space, \t, \n, \v, \f, \r (isspace of the C locale).
[[nodiscard]] constexpr bool is_space(char c) noexcept {
  return c == ' ' || static_cast<unsigned char>(c - '\t') < 5;
}

/// Bytes that one call of `word_borders` looks at: positions fit 16 bits and the list stays in L1.
inline constexpr std::size_t word_block = 4096;

/// Room for the borders of a block. The vector code writes in groups and so needs some slack.
using border_list = std::array<std::uint16_t, word_block + 64>;

/// Writes the positions in `text` (at most `word_block` bytes) where a word begins or ends, in
/// order and so alternating, and returns how many. `in_word` says whether a word is open before the
/// first byte and, on return, after the last. Reads nothing outside `text`. Any thread; never
/// throws.
[[nodiscard]] std::size_t word_borders(std::string_view text, bool& in_word,
                                       border_list& borders) noexcept;

/// Calls `f(std::string_view word)` for every word of `text` in order. Words touching an end of
/// `text` are taken to end there: cut inputs at white space (see `cut`).
template <class F>
void for_each_word(std::string_view text, F&& f) {
  border_list borders;
  const char* open = nullptr;
  bool in_word = false;
  for (std::size_t at = 0; at < text.size(); at += word_block) {
    const std::string_view block = text.substr(at, word_block);
    charge(work::byte_scanned, static_cast<std::int64_t>(block.size()));
    const bool continued = in_word;
    const std::size_t count = word_borders(block, in_word, borders);
    std::size_t i = 0;
    if (continued && count != 0) {
      f(std::string_view(open, static_cast<std::size_t>(block.data() + borders[0] - open)));
      i = 1;
    }
    for (; i + 1 < count; i += 2) {
      f(std::string_view(block.data() + borders[i],
                         static_cast<std::size_t>(borders[i + 1] - borders[i])));
    }
    if (i < count) open = block.data() + borders[i];
  }
  if (in_word)
    f(std::string_view(open, static_cast<std::size_t>(text.data() + text.size() - open)));
}

}  // namespace creek::mapreduce

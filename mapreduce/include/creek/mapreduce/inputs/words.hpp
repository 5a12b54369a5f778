// SPDX-License-Identifier: Apache-2.0
// Words of a text: maximal runs of bytes that are not ASCII white space. Vector code chosen
// for the CPU at run time finds the borders 64 bytes at a time; the code for a word is
// inlined.
#pragma once

#include <array>
#include <creek/core/charge.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace creek::mapreduce {

/// Returns whether c separates words: space, \t, \n, \v, \f, \r (isspace of the C locale).
[[nodiscard]] constexpr bool is_space(char c) noexcept {
  return c == ' ' || static_cast<unsigned char>(c - '\t') < 5;
}

/// Maximum bytes per call of `find_word_borders`: positions fit 16 bits and the list stays in
/// L1.
inline constexpr std::size_t word_block = 4096;

/// Begins and ends of the words in a block, in order and so alternating.
struct word_borders {
  /// The vector code writes whole groups and needs some extra room.
  std::array<std::uint16_t, word_block + 64> at;
  std::size_t count;
  bool has_nul;  ///< anywhere in the block, not only in its words
};

/// Finds the borders of words in `text`, of at most `word_block` bytes. `in_word` says whether a
/// word is open before the first byte and, on return, after the last. Reads nothing outside `text`.
/// Any thread; never throws.
void find_word_borders(std::string_view text, bool& in_word, word_borders& borders) noexcept;

/// Words that lie within one block.
struct block_words {
  const char* text;                        ///< base of the borders' positions
  std::span<const std::uint16_t> borders;  ///< two per word
  bool has_nul;                            ///< possibly in a word
};

/// Calls `block(block_words)` for the words of each block of `text`, and `crossing(std::string_view
/// word)` for words that span several blocks, in order. Words touching an end of `text` are taken
/// to end there: cut inputs at white space (see `cut`).
template <class Block, class Crossing>
void for_each_block_of_words(std::string_view text, Block&& block, Crossing&& crossing) {
  word_borders borders;
  const char* open = nullptr;
  bool in_word = false;
  const auto close = [&](const char* end) {
    crossing(std::string_view(open, static_cast<std::size_t>(end - open)));
  };
  for (std::size_t at = 0; at < text.size(); at += word_block) {
    const std::string_view here = text.substr(at, word_block);
    charge(work::byte_scanned, static_cast<std::int64_t>(here.size()));
    const std::size_t first = in_word ? 1 : 0;
    find_word_borders(here, in_word, borders);
    if (borders.count < first) continue;
    if (first != 0) close(here.data() + borders.at[0]);
    const std::size_t size = (borders.count - first) / 2 * 2;
    block(block_words{here.data(), std::span(borders.at).subspan(first, size), borders.has_nul});
    if (first + size < borders.count) open = here.data() + borders.at[first + size];
  }
  if (in_word) close(text.data() + text.size());
}

/// Calls `f(std::string_view word)` for every word of `text` in order, ends as above.
template <class F>
void for_each_word(std::string_view text, F&& f) {
  const auto each = [&](const block_words& words) {
    for (std::size_t i = 0; i < words.borders.size(); i += 2) {
      const std::uint16_t begin = words.borders[i];
      f(std::string_view(words.text + begin,
                         static_cast<std::size_t>(words.borders[i + 1] - begin)));
    }
  };
  for_each_block_of_words(text, each, f);
}

}  // namespace creek::mapreduce

// SPDX-License-Identifier: Apache-2.0
// Vector code of word_cache and word_table, chosen for the CPU at run time.
#pragma once

#include <creek/mapreduce/inputs/words.hpp>
#include <creek/mapreduce/tables/word_cache.hpp>
#include <creek/mapreduce/tables/word_table.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace creek::mapreduce::detail {

/// Adds the counts of the words that are in their home line, and moves the others to the front;
/// returns the number of the others.
std::size_t count_known(const word_table::bucket& in, std::span<word_table::counted_word> words);

/// Returns the entry of a word in a segment, or else the free entry for it, from its home line on.
/// There always is a free entry.
word_table::entry find_entry(const word_table::bucket& in, word_table::segment& s,
                             const word_table::counted_word& word);

/// View of a mapper's cache for the probing code.
struct cache_view {
  std::span<word_table::line> lines;
  word_cache::collections* collected;
  word_cache* owner;
  const hash_factors* by;
};

/// Counts words: in the cache if they are there or have room there, else collects them. Writes the
/// indices of words that are not inline, or may not be read in steps of 8 bytes (they do not begin
/// in `safe`), to `odd`, which has room for all; returns their number.
std::size_t count_words(const cache_view& cache, std::span<const std::string_view> words,
                        std::string_view safe, std::uint16_t* odd);

/// Does the same for the words of a block without NUL bytes; 16 bytes may be read from the begin of
/// each word.
std::size_t count_block(const cache_view& cache, const block_words& words, std::uint16_t* odd);

}  // namespace creek::mapreduce::detail

// SPDX-License-Identifier: Apache-2.0
// The lookup of batches of words, compiled for each vector instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <creek/mapreduce/word_cache.hpp>
#include <creek/mapreduce/word_table.hpp>

namespace creek::mapreduce::detail {

/// Adds the counts of the keys (all of at most 8 bytes) that stand in their home line, and moves
/// those that do not to the front; returns how many they are.
std::size_t count_short(const word_table::partition& part, std::span<word_table::entry> keys);

/// The same for keys of 9 to 254 bytes.
std::size_t count_long(const word_table::partition& part, std::span<word_table::entry> keys);

/// What `probe_cache` found.
struct cache_misses {
  std::size_t words = 0;  ///< not in the cache
  std::size_t odd = 0;    ///< not looked for
};

/// Counts the words that are in the cache. Writes the others to `missing`, or, where they are
/// empty, longer than 16 bytes, end in NUL or may not be read in steps of 8 bytes (they do not
/// begin in `safe`), their indices to `odd`; both have room for all words.
cache_misses probe_cache(std::span<word_cache::line> lines, std::span<const std::string_view> words,
                         std::string_view safe, word_cache::miss* missing, std::uint16_t* odd);

}  // namespace creek::mapreduce::detail

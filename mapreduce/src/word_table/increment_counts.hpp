// SPDX-License-Identifier: Apache-2.0
// Finds words and increments their counts: among a mapper's frequent words, and in the buckets of
// the shared table. Vector code, chosen for the CPU at run time.
#pragma once

#include <creek/mapreduce/inputs/words.hpp>
#include <creek/mapreduce/word_table/word_writer.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace creek::mapreduce::detail {

/// Counts of a mapper, and where words go that are not among them.
struct mapper_counts {
  std::span<word_line> frequent;
  word_batches* batches;
  word_writer* writer;  // empties full batches
  const hash_factors* by;
};

/// Counts words: among the frequent words if they are there or have room there, else in batches.
/// Writes the indices of words that are not inline, or may not be read in steps of 8 bytes (they do
/// not begin in `safe`), to `rest`, which has room for all; returns their number.
std::size_t increment_frequent(const mapper_counts& counts, std::span<const std::string_view> words,
                               std::string_view safe, std::uint16_t* rest);

/// Does the same for the words of a block without NUL bytes; 16 bytes may be read from the begin of
/// each word.
std::size_t increment_frequent(const mapper_counts& counts, const block_words& words,
                               std::uint16_t* rest);

/// Adds the counts of the words that are in the first line where they are searched for, and moves
/// the others to the front; returns the number of the others.
std::size_t increment_known(const word_directory& in, std::span<counted_word> words);

/// Adds `count` to the count of one word of a bucket, which must stay positive.
void increment(word_bucket& in, const word_bucket::entry& at, std::uint64_t count);

/// Returns the entry of a word in a segment, or else the free entry for it, from its first line on.
/// There always is a free entry.
word_bucket::entry find_entry(const word_directory& in, word_segment& s, const counted_word& word);

}  // namespace creek::mapreduce::detail

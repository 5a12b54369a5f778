// SPDX-License-Identifier: Apache-2.0
// The lookup of a batch of keys in a word_table, compiled for each vector instruction set.
#pragma once

#include <cstddef>

#include <creek/mapreduce/word_table.hpp>

namespace creek::mapreduce::detail {

/// Adds the counts of the keys of `q` (all of at most 8 bytes) that stand in their home line, and
/// leaves those that do not as the new contents of `q`.
void count_short(word_table::queue& q);

/// The same for keys of 9 to 254 bytes: a first pass asks for the text of likely matches, a second
/// compares.
void count_long(word_table::queue& q);

}  // namespace creek::mapreduce::detail

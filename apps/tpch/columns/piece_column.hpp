// SPDX-License-Identifier: Apache-2.0
// A column of some rows of a table, on its way from a file to the whole column.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "buffer.hpp"
#include "dictionary.hpp"
#include "packed.hpp"

namespace creek::tpch {

/// A column of the rows of one piece.
struct piece_column {
  packing seen;
  packed values;  ///< values of the piece only: numbers, numbers of words, lengths of texts
  buffer memory;
  std::vector<std::string_view> words;  ///< categories, in any order, into `word_bytes`
  std::vector<char> word_bytes;         ///< copies: words are sorted, and the file may change
  std::string text;                     ///< text, one after the other
};

/// The values of a column while a piece is read.
struct column_values {
  std::vector<std::int64_t> numbers;  ///< values, numbers of words, lengths of texts
  dictionary words;
  std::string text;

  void clear();
  /// Returns the values packed, in no more memory than needed.
  [[nodiscard]] piece_column pack_up() const;
};

}  // namespace creek::tpch

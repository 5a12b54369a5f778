// SPDX-License-Identifier: Apache-2.0
#include "piece_column.hpp"

namespace creek::tpch {

void column_values::clear() {
  numbers.clear();
  words.clear();
  text.clear();
}

piece_column column_values::pack_up() const {
  piece_column column;
  column.seen.see(numbers);
  column.values = column.seen.shape();
  column.values.size = numbers.size();
  column.memory = buffer(column.values.bytes());
  column.values.codes = column.memory.data();
  pack(numbers, column.values, column.memory.data(), 0);
  std::size_t bytes = 0;
  for (const std::string_view word : words.words()) bytes += word.size();
  column.word_bytes.reserve(bytes + 1);  // even the view of an empty word is not null
  for (const std::string_view word : words.words()) {
    const auto at = column.word_bytes.insert(column.word_bytes.end(), word.begin(), word.end());
    column.words.emplace_back(at, column.word_bytes.end());
  }
  column.text = text;
  return column;
}

}  // namespace creek::tpch

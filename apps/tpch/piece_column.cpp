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
  column.words = words.words();
  column.text = text;
  return column;
}

}  // namespace creek::tpch

// SPDX-License-Identifier: Apache-2.0
#include <creek/mapreduce/word_table/frequent_words.hpp>

namespace creek::mapreduce::detail {

void frequent_words::admit(word_line& line, const hashed_word& word) noexcept {
  const word_key key{word.low, word.high};
  std::size_t i = 0;  // the word may have been added since the lookup
  while (line.count[i] != 0 && line.at(i) != key) ++i;
  line.put(i, key, line.count[i] + 1);
}

}  // namespace creek::mapreduce::detail

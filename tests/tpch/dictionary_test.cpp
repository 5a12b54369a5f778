// SPDX-License-Identifier: Apache-2.0
// Numbers of words, including words chosen to have one hash.
#include "tpch/columns/dictionary.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace creek::tpch {
namespace {

TEST(tpch_dictionary, numbers_words_in_the_order_of_their_coming) {
  const std::vector<std::string> words{"", "A", std::string(300, 'x'), "MAIL", "a b", "B"};
  dictionary numbers;
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t i = 0; i < words.size(); ++i) EXPECT_EQ(numbers.number_of(words[i]), i);
  }
  numbers.clear();
  EXPECT_EQ(numbers.number_of("MAIL"), 0u);
}

/// Returns different letters for different numbers.
std::string letters_of(std::uint64_t number, std::size_t size) {
  std::string text;
  for (; text.size() < size; number >>= 4) text += static_cast<char>('a' + number % 16);
  return text;
}

/// Words of `size` bytes that make one factor of a product in xxHash 0 if it has no seed: the
/// middle of the word does not count then.
std::vector<std::string> chosen_words(std::size_t size) {
  const std::string begin("\xb8\xfe\x6c\x39\x23\xa4\x4b\xbe", 8);  // its secret begins like this
  const std::string end("\x72\x40\xa4\xa4\xb7\xb3\x67\x1f", 8);
  std::vector<std::string> words;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    words.push_back(begin + letters_of(i, size - 16) + end);
  }
  return words;
}

TEST(tpch_dictionary, words_chosen_to_have_one_hash) {
  for (const std::size_t size : {21, 25, 32}) {
    const std::vector<std::string> words = chosen_words(size);
    dictionary numbers;
    for (const std::string& word : words) numbers.number_of(word);
    EXPECT_EQ(numbers.words().size(), words.size());
    EXPECT_LT(numbers.probes(), 2 * words.size()) << size;
  }
}

}  // namespace
}  // namespace creek::tpch

// SPDX-License-Identifier: Apache-2.0
// The counting table against std::map.
#include <creek/mapreduce/word_table.hpp>
#include <creek/mapreduce/words.hpp>

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <string>

#include "oracle.hpp"

namespace creek::mapreduce {
namespace {

using oracle::word_map;

word_map contents(const word_table& table) {
  word_map counts;
  for (std::size_t part = 0; part < word_table::partitions; ++part) {
    table.for_each(part, [&](std::string_view word, std::uint64_t count) {
      EXPECT_FALSE(counts.contains(std::string(word))) << "twice: " << word;
      counts[std::string(word)] = count;
    });
  }
  return counts;
}

void count_into(word_table& table, std::string_view text, bool stable) {
  table.source(text, stable);
  for_each_word(text, [&](std::string_view word) { table(word); });
  table.flush();
}

TEST(WordTable, CountsAsAMapDoes) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::GetChosenTarget().Update(target);
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const std::string text = oracle::random_text(seed, 300000, 20 << seed);
      word_table table;
      count_into(table, text, true);
      EXPECT_EQ(contents(table), oracle::count_by_map(text)) << "seed " << seed;
      EXPECT_EQ(table.size(), contents(table).size());
    }
  }
  hwy::GetChosenTarget().DeInit();
}

TEST(WordTable, CopiesKeysOfTextThatGoesAway) {
  word_table table;
  word_map expected;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    std::string text = oracle::random_text(seed, 20000, 300);
    for (const auto& [word, count] : oracle::count_by_map(text)) expected[word] += count;
    count_into(table, text, false);
    text.assign(text.size(), '#');
  }
  EXPECT_EQ(contents(table), expected);
}

TEST(WordTable, TellsKeysApartThatDifferInTrailingNulsOnly) {
  word_table table;
  word_map expected;
  for (std::size_t n = 0; n < 40; ++n) {
    const std::string word(n, '\0');
    for (std::size_t times = 0; times <= n; ++times) table(word);
    expected[word] = n + 1;
    table.flush();
  }
  EXPECT_EQ(contents(table), expected);
}

TEST(WordTable, TakesKeysAroundEveryLimitOfLength) {
  word_table table;
  word_map expected;
  std::string text;
  for (const std::size_t n : {7, 8, 9, 15, 16, 17, 253, 254, 255, 256, 70000}) {
    for (const char c : {'a', 'b'}) {
      text += std::string(n, c) + ' ' + std::string(n, c) + ' ';
      expected[std::string(n, c)] = 4;
    }
  }
  count_into(table, text, true);
  count_into(table, text, false);
  EXPECT_EQ(contents(table), expected);
}

TEST(WordTable, AddsCounts) {
  word_table table;
  const std::string many = "many";
  const std::string words = "a word of more than eight bytes";
  table(many, 1'000'000'000'000);
  table(many, 5);
  table(words, 7);
  table.flush();
  EXPECT_EQ(contents(table),
            (word_map{{"many", 1'000'000'000'005}, {"a word of more than eight bytes", 7}}));
}

TEST(WordTable, MergesPartitionByPartition) {
  const std::string left_text = oracle::random_text(1, 200000, 3000);
  const std::string right_text = oracle::random_text(2, 400000, 9000) + left_text.substr(0, 5000);
  word_table left;
  word_table right;
  count_into(left, left_text, true);
  count_into(right, right_text, true);
  for (std::size_t part = 0; part < word_table::partitions; ++part) left.merge(right, part);
  word_map expected = oracle::count_by_map(left_text);
  for (const auto& [word, count] : oracle::count_by_map(right_text)) expected[word] += count;
  EXPECT_EQ(contents(left), expected);
  EXPECT_EQ(right.size(), 0u);
  EXPECT_EQ(right.bytes(), 0u);
}

TEST(WordTable, StaysWellFilledWhileItGrows) {
  word_table table;
  for (std::uint64_t i = 0; i < 300000; ++i) {
    const std::string word = "w" + std::to_string(i);
    table(word);
    table.flush();
    if (i > 20000 && i % 1000 == 0) {
      EXPECT_LT(table.bytes(), table.size() * 30) << i;
    }
  }
}

}  // namespace
}  // namespace creek::mapreduce

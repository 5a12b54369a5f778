// SPDX-License-Identifier: Apache-2.0
// The counting table against std::map.
#include <creek/mapreduce/inputs/words.hpp>
#include <creek/mapreduce/word_table/word_table.hpp>
#include <creek/mapreduce/word_table/word_writer.hpp>

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

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

void finish(word_writer& writer) {
  writer.finish();
  for (std::size_t part = 0; part < word_table::partitions; ++part) writer.drain(part);
}

void count_into(word_writer& writer, std::string_view text, bool stable) {
  writer.source(text, stable);
  for_each_word(text, [&](std::string_view word) { writer(word); });
  writer.flush();
}

/// Counts the same without passing single words.
void count_all_into(word_writer& writer, std::string_view text, bool stable) {
  writer.source(text, stable);
  writer.count_all(text);
  writer.flush();
}

TEST(WordTable, CountsAsAMapDoes) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::GetChosenTarget().Update(target);
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      std::string text = oracle::random_text(seed, 300000, 20 << seed);
      if (seed % 2 != 0) std::replace(text.begin(), text.end(), '\0', '0');
      const word_map expected = oracle::count_by_map(text);
      for (const auto count : {count_into, count_all_into}) {
        word_table table;
        word_writer writer(table);
        count(writer, text, true);
        finish(writer);
        EXPECT_EQ(contents(table), expected) << "seed " << seed;
        EXPECT_EQ(table.size(), expected.size());
      }
    }
  }
  hwy::GetChosenTarget().DeInit();
}

TEST(WordTable, CountsAllOfATextThatGoesAway) {
  word_table table;
  word_writer writer(table);
  word_map expected;
  for (const std::size_t size : {0, 1, 15, 16, 17, 4095, 4096, 4097, 20000}) {
    std::string text = oracle::random_text(size, size, 300).substr(0, size);
    for (const auto& [word, count] : oracle::count_by_map(text)) expected[word] += count;
    count_all_into(writer, text, false);
    text.assign(text.size(), '#');
  }
  finish(writer);
  EXPECT_EQ(contents(table), expected);
}

TEST(WordTable, CountsMoreThanAnEntryHasBitsFor) {
  constexpr std::uint64_t nearly = (std::uint64_t{1} << 32) - 3;
  word_table table;
  word_map expected;
  for (const std::string word : {"short", "a_word_of_more_than_twelve_bytes"}) {
    word_writer writer(table);
    writer(word, nearly);
    std::string text;
    for (int i = 0; i < 1000; ++i) text += word + ' ';
    for (int times = 0; times < 3; ++times) {  // by ones and by sums, into the table each time
      count_into(writer, text, true);
      writer.finish();
    }
    writer(word, 3 * nearly);
    finish(writer);
    expected[word] = 4 * nearly + 3000;
  }
  EXPECT_EQ(contents(table), expected);
}

TEST(WordTable, CopiesKeysOfTextThatGoesAway) {
  word_table table;
  word_writer writer(table);
  word_map expected;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    std::string text = oracle::random_text(seed, 20000, 300);
    for (const auto& [word, count] : oracle::count_by_map(text)) expected[word] += count;
    count_into(writer, text, false);
    text.assign(text.size(), '#');
  }
  finish(writer);
  EXPECT_EQ(contents(table), expected);
}

TEST(WordTable, CopiesKeysFromOutsideTheText) {
  word_table table;
  word_writer writer(table);
  const std::string text = "one two";
  writer.source(text, true);
  {
    const std::string elsewhere = "a word of more than eight bytes";
    writer(elsewhere);
    writer(std::string_view(elsewhere).substr(0, 11));
    writer.flush();
  }
  count_into(writer, text, true);
  finish(writer);
  EXPECT_EQ(
      contents(table),
      (word_map{
          {"a word of more than eight bytes", 1}, {"a word of m", 1}, {"one", 1}, {"two", 1}}));
}

TEST(WordTable, TellsKeysApartThatDifferInTrailingNulsOnly) {
  word_table table;
  word_writer writer(table);
  word_map expected;
  std::string text;  // long enough for words to be read in steps of eight bytes
  for (std::size_t n = 0; n < 40; ++n) {
    const std::string word = (n % 2 == 0 ? "" : "n") + std::string(n, '\0');
    for (std::size_t times = 0; times <= n; ++times) text += word + ' ';
    expected[word] += n + 1;
  }
  expected.erase("");
  text += std::string(16, ' ');
  count_into(writer, text, true);
  writer({});
  writer.flush();
  expected[""] = 1;
  finish(writer);
  EXPECT_EQ(contents(table), expected);
}

TEST(WordTable, TakesKeysAroundEveryLimitOfLength) {
  word_table table;
  word_writer writer(table);
  word_map expected;
  std::string text;
  for (const std::size_t n : {7, 8, 9, 11, 12, 13, 15, 16, 17, 32, 33, 253, 254, 255, 256, 70000}) {
    for (const char c : {'a', 'b'}) {
      text += std::string(n, c) + ' ' + std::string(n, c) + ' ';
      expected[std::string(n, c)] = 4;
    }
  }
  count_into(writer, text, true);
  count_into(writer, text, false);
  finish(writer);
  EXPECT_EQ(contents(table), expected);
}

TEST(WordTable, AddsCounts) {
  word_table table;
  word_writer writer(table);
  const std::string many = "many";
  const std::string words = "a word of more than eight bytes";
  writer(many, 1'000'000'000'000);
  writer(many, 5);
  writer(words, 7);
  writer.flush();
  EXPECT_EQ(writer.emitted(), 3u);
  finish(writer);
  EXPECT_EQ(contents(table),
            (word_map{{"many", 1'000'000'000'005}, {"a word of more than eight bytes", 7}}));
}

TEST(WordTable, SeveralMappersFillIt) {
  word_table table;
  std::vector<std::string> texts;
  word_map expected;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    texts.push_back(oracle::random_text(seed, 400000, std::size_t{3000} << 2 * seed));
    for (const auto& [word, count] : oracle::count_by_map(texts.back())) expected[word] += count;
  }
  {
    std::vector<std::jthread> mappers;
    for (const std::string& text : texts) {
      mappers.emplace_back([&table, &text] {
        word_writer writer(table);
        count_into(writer, text, true);
        finish(writer);
      });
    }
  }
  EXPECT_EQ(contents(table), expected);
}

TEST(WordTable, WordsThatBecomeFrequentReplaceOthersInTheCache) {
  word_table table;
  word_writer writer(table);
  word_map expected;
  std::string text;
  for (int period = 0; period < 4; ++period) {  // more words than between two drop_rare()
    for (std::uint64_t i = 0; i < 300000; ++i) {
      const std::string word = std::to_string(period) + 'w' + std::to_string(i * i % 40009);
      text += word + ' ';
      ++expected[word];
    }
  }
  count_into(writer, text, true);
  EXPECT_EQ(writer.emitted(), 1200000u);
  finish(writer);
  EXPECT_EQ(contents(table), expected);
}

TEST(WordTable, WordsThatShareAllBitsOfTheirPlace) {
  constexpr std::size_t same = 1000;  // more than fit into a segment
  word_table table;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < same; ++i) words.push_back("a long word " + std::to_string(i));
  for (int times = 0; times < 2; ++times) {
    std::vector<detail::counted_word> refs;
    for (const std::string& word : words) {
      const auto ref = detail::hashed_word::make_long(word.data(), word.size(), 42);
      refs.push_back(detail::counted_word::make(ref, 1));
    }
    table.bucket(detail::bucket_of(0, true)).add(refs, {});
  }
  word_map expected;
  for (const std::string& word : words) expected[word] = 2;
  EXPECT_EQ(contents(table), expected);
}

bool verify(word_table& table) {
  for (std::size_t i = 0; i < 2 * word_table::partitions; ++i) {
    if (!table.bucket(i).verify()) return false;
  }
  return true;
}

TEST(WordTable, VerifyFindsWhatDoesNotAgree) {
  word_table table;
  word_writer writer(table);
  EXPECT_TRUE(verify(table));
  const std::string text = oracle::random_text(1, 3000000, 100000);
  count_all_into(writer, text, true);
  finish(writer);
  EXPECT_TRUE(verify(table));
  const detail::word_directory& words = table.bucket(0).words();
  detail::word_segment& segment = *words.segments().front();
  ++segment.used;
  EXPECT_FALSE(table.bucket(0).verify());
  --segment.used;
  for (detail::word_line& line : words.lines_of(segment)) {
    if (line.count[0] == 0) continue;
    const detail::word_key key = line.at(0);
    line.put(0, {key.low + 1, key.high}, line.count[0]);  // another word, with another hash
  }
  EXPECT_FALSE(table.bucket(0).verify());
}

TEST(WordTable, StaysWellFilledWhileItGrows) {
  word_table table;
  word_writer writer(table);
  for (std::uint64_t i = 0; i < 300000; ++i) {
    const std::string word = "w" + std::to_string(i);
    writer(word);
    writer.flush();
    if (i > 50000 && i % 1000 == 0) {
      EXPECT_LT(table.bytes(), table.size() * 32) << i;
    }
  }
}

}  // namespace
}  // namespace creek::mapreduce

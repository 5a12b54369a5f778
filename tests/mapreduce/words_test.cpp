// SPDX-License-Identifier: Apache-2.0
// The cutting of text into words and of input into splits.
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/inputs/words.hpp>

#include <gmock/gmock.h>
#include <hwy/targets.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "oracle.hpp"

namespace creek::mapreduce {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for_each_word(text, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

std::vector<std::string> words_by_byte(std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  for (const char c : text) {
    if (is_space(c)) {
      in_word = false;
    } else {
      if (!in_word) words.emplace_back();
      words.back() += c;
      in_word = true;
    }
  }
  return words;
}

TEST(Words, SixBytesPartWords) {
  for (int c = 0; c < 256; ++c) {
    const bool parts = c == ' ' || (c >= 9 && c <= 13);
    EXPECT_EQ(is_space(static_cast<char>(c)), parts) << c;
    const std::string text{'a', static_cast<char>(c), 'b'};
    EXPECT_EQ(words_of(text).size(), parts ? 2u : 1u) << c;
  }
}

TEST(Words, NoTextAndOnlySpaceHaveNone) {
  EXPECT_TRUE(words_of("").empty());
  EXPECT_TRUE(words_of(std::string(10000, '\n')).empty());
}

TEST(Words, EveryLengthAtEveryPlaceInAGroup) {
  for (std::size_t before = 0; before < 130; ++before) {
    for (const std::size_t length : {1, 2, 62, 63, 64, 65, 66, 127, 128, 129}) {
      const std::string word(length, 'x');
      EXPECT_THAT(words_of(std::string(before, ' ') + word), testing::ElementsAre(word));
      EXPECT_THAT(words_of(std::string(before, ' ') + word + ' '), testing::ElementsAre(word));
    }
  }
}

TEST(Words, WordsReachAcrossBlocks) {
  for (std::size_t n = word_block - 2; n <= word_block + 2; ++n) {
    EXPECT_THAT(words_of(std::string(n, 'y')), testing::ElementsAre(std::string(n, 'y')));
    EXPECT_THAT(words_of(std::string(n, 'y') + " z"),
                testing::ElementsAre(std::string(n, 'y'), "z"));
    EXPECT_THAT(words_of("a " + std::string(3 * n, 'y') + " z"),
                testing::ElementsAre("a", std::string(3 * n, 'y'), "z"));
  }
}

TEST(Words, DenseBordersFitTheList) {
  std::string text;
  for (std::size_t i = 0; i < 3 * word_block; ++i) text += i % 2 == 0 ? 'q' : ' ';
  EXPECT_EQ(words_of(text).size(), 3 * word_block / 2);
}

TEST(Words, AgreesWithByteByByteOnEveryInstructionSet) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::GetChosenTarget().Update(target);
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      const std::string text = oracle::random_text(seed, 9000, 50);
      for (const std::size_t skip : {0, 1, 63}) {
        const std::string_view part = std::string_view(text).substr(skip);
        EXPECT_EQ(words_of(part), words_by_byte(part)) << hwy::TargetName(target) << ' ' << seed;
      }
    }
  }
  hwy::GetChosenTarget().DeInit();
}

TEST(Words, ReadsNothingBehindTheText) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  char* two = static_cast<char*>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_EQ(mprotect(two + page, page, PROT_NONE), 0);
  for (std::size_t n = 0; n < 200; ++n) {
    char* begin = two + page - n;
    for (std::size_t i = 0; i < n; ++i) begin[i] = i % 7 == 3 ? ' ' : 'w';
    EXPECT_EQ(words_of({begin, n}), words_by_byte({begin, n}));
  }
  munmap(two, 2 * page);
}

TEST(Splits, TogetherHaveEveryWordOnce) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::string text = oracle::random_text(seed, 3000, 40);
    for (const std::size_t step : {1, 2, 3, 7, 64, 500, 2999, 5000}) {
      std::vector<std::string> words;
      std::string joined;
      for (std::size_t i = 0; i * step < text.size(); ++i) {
        for (const std::string& word : words_of(cut(text, i, step))) words.push_back(word);
        joined += cut(text, i, step);
      }
      EXPECT_EQ(joined, text) << "seed " << seed << ", step " << step;
      EXPECT_EQ(words, words_by_byte(text)) << "seed " << seed << ", step " << step;
    }
  }
}

TEST(Splits, AGreatWordBelongsToTheSplitItBeginsIn) {
  const std::string text = "a " + std::string(100, 'b') + " c";
  EXPECT_EQ(cut(text, 0, 10).size(), 103u);  // and the blank after it
  for (std::size_t i = 1; i < 10; ++i) EXPECT_TRUE(cut(text, i, 10).empty()) << i;
  EXPECT_EQ(cut(text, 10, 10), "c");
}

}  // namespace
}  // namespace creek::mapreduce

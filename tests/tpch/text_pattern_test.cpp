// SPDX-License-Identifier: Apache-2.0
// Patterns against a plain matcher that tries every way to place the words.
#include "tpch/operators/text_pattern.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace creek::tpch {
namespace {

constexpr column_schema text_schema{"any", kind::text, 255};

/// A text column over its own memory.
struct text_column {
  explicit text_column(const std::vector<std::string>& rows) {
    std::vector<std::int64_t> begin{0};
    std::string all;
    for (const std::string& row : rows) {
      all += row;
      begin.push_back(static_cast<std::int64_t>(all.size()));
    }
    bytes = buffer(all.size());
    std::copy(all.begin(), all.end(), reinterpret_cast<char*>(bytes.data()));
    packing seen;
    seen.see(begin);
    view.schema = &text_schema;
    view.bytes = {reinterpret_cast<const char*>(bytes.data()), all.size()};
    view.values = seen.shape();
    view.values.size = begin.size();
    begins = buffer(view.values.bytes());
    view.values.codes = begins.data();
    pack(begin, view.values, begins.data(), 0);
  }
  buffer bytes, begins;
  column view;
};

bool plainly_matches(const text_pattern& pattern, std::string_view text) {
  std::vector<std::string_view> words{pattern.inner.begin(), pattern.inner.end()};
  const auto rest_matches = [&](auto&& self, std::size_t at, std::size_t word) -> bool {
    if (word == words.size()) {
      return text.size() - at >= pattern.back.size() && text.ends_with(pattern.back);
    }
    for (std::size_t i = at; i + words[word].size() <= text.size(); ++i) {
      if (text.substr(i, words[word].size()) == words[word] &&
          self(self, i + words[word].size(), word + 1)) {
        return true;
      }
    }
    return false;
  };
  return text.starts_with(pattern.front) && rest_matches(rest_matches, pattern.front.size(), 0);
}

void check(const std::vector<std::string>& rows, const text_pattern& pattern, std::uint64_t some,
           std::mt19937_64& random) {
  const text_column texts(rows);
  for (std::size_t first = 0; first < rows.size(); first += block_rows) {
    const row_block block{first, std::min(block_rows, rows.size() - first)};
    for (const bool wanted : {true, false}) {
      row_mask mask(block);
      keep_if(block, mask, [&](std::size_t) { return random() % some == 0; });
      row_mask kept = mask;
      keep_like(texts.view, block, pattern, wanted, kept);
      keep_if(block, mask,
              [&](std::size_t row) { return plainly_matches(pattern, rows[row]) == wanted; });
      for (std::size_t w = 0; w < block.words(); ++w) {
        ASSERT_EQ(kept.words[w], mask.words[w]) << first + 64 * w << " " << wanted;
      }
    }
  }
}

TEST(tpch_text_pattern, random_texts_of_few_letters) {
  std::mt19937_64 random(8);
  const auto word = [&](std::size_t most) {
    std::string made(random() % (most + 1), 'a');
    for (char& c : made) c = "ab"[random() % 2];
    return made;
  };
  for (int round = 0; round < 60; ++round) {
    std::vector<std::string> rows(1 + random() % 9000);
    const std::size_t longest = 1 + random() % 40;
    for (std::string& row : rows) row = word(longest);
    text_pattern pattern{.front = word(random() % 2), .back = word(random() % 3)};
    for (std::size_t i = random() % 4; i > 0; --i) pattern.inner.push_back(word(1 + random() % 7));
    check(rows, pattern, 1, random);
    check(rows, pattern, 3, random);
    check(rows, pattern, 20, random);
  }
}

TEST(tpch_text_pattern, words_that_reach_into_the_next_row) {
  std::mt19937_64 random(9);
  const std::vector<std::string> rows{"special",
                                      "",
                                      "spec",
                                      "ial requests",
                                      "special reque",
                                      "sts",
                                      "xspecialx requestsx",
                                      "requests special",
                                      "special",
                                      "requests"};
  const text_pattern both{.inner = {"special", "requests"}};
  check(rows, both, 1, random);
  EXPECT_TRUE(both.matches("the special packages and requests"));
  EXPECT_FALSE(both.matches("requests are special"));
}

TEST(tpch_text_pattern, words_longer_than_any_text) {
  std::mt19937_64 random(10);
  const std::vector<std::string> rows(100, std::string(50, 'x'));
  for (const std::size_t size : {49u, 50u, 51u, 256u, 257u, 5000u}) {
    check(rows, {.inner = {std::string(size, 'x')}}, 1, random);
  }
}

TEST(tpch_text_pattern, no_character_has_a_meaning) {
  const text_pattern percent{.inner = {"5%_"}};
  EXPECT_TRUE(percent.matches("a 5%_ b"));
  EXPECT_FALSE(percent.matches("a 5 x"));
  EXPECT_TRUE(text_pattern{}.matches(""));
  const text_pattern ends{.front = "ab", .back = "ba"};
  EXPECT_TRUE(ends.matches("abba"));
  EXPECT_FALSE(ends.matches("aba"));
}

TEST(tpch_text_pattern, codes_of_words) {
  const text_column words({"ECONOMY BRASS", "PROMO BRASS", "PROMO TIN"});
  column category = words.view;
  category.word_begins = words.view.values;
  const key_index brass = codes_like(category, {.back = "BRASS"});
  EXPECT_EQ(brass.size(), 2u);
  EXPECT_EQ(brass.find(2), key_index::absent);
  const key_index other = codes_like(category, {.front = "PROMO"}, false);
  EXPECT_EQ(other.size(), 1u);
  EXPECT_EQ(other.find(0), 0u);
}

}  // namespace
}  // namespace creek::tpch

// SPDX-License-Identifier: Apache-2.0
// Words by Unicode properties, against Python's unicodedata and against words of ASCII.
#include <creek/mapreduce.hpp>
#include <creek/text.hpp>

#include <gmock/gmock.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "oracle.hpp"
#include "support/seed.hpp"

namespace creek::text {
namespace {

using strings = std::vector<std::string>;
using testing::ElementsAre;

strings words_of(std::string_view text, const word_options& chosen = {}) {
  strings words;
  for_each_unicode_word(
      text, [&](std::string_view word) { words.emplace_back(word); }, chosen);
  return words;
}

class UnicodeWords : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_unicode_words()) GTEST_SKIP() << "built without utf8proc";
  }
};

TEST_F(UnicodeWords, LettersDigitsAndMarks) {
  EXPECT_THAT(words_of("Größe, naïve; 3rd_x \u0416\u0438\u0437\u043D\u044C!"),
              ElementsAre("Größe", "naïve", "3rd", "x", "\u0416\u0438\u0437\u043D\u044C"));
  EXPECT_THAT(words_of("e\u0301te\u0301 \u0301x"), ElementsAre("e\u0301te\u0301", "x"));
  EXPECT_THAT(words_of("\u0967\u0968 \u2163 x\u00B2"), ElementsAre("\u0967\u0968", "\u2163", "x"));
  EXPECT_THAT(words_of("3rd \u0967a", {.digits = false}), ElementsAre("rd", "a"));
  EXPECT_THAT(words_of(""), ElementsAre());
  EXPECT_THAT(words_of(" '\u2019' . \u0301"), ElementsAre());
}

TEST_F(UnicodeWords, JoinersAreInnerOnes) {
  EXPECT_THAT(words_of("don't l\u2019\u00E9t\u00E9 'quoted' rock'n'roll dogs' 5'6 a''b"),
              ElementsAre("don't", "l\u2019\u00E9t\u00E9", "quoted", "rock'n'roll", "dogs", "5",
                          "6", "a", "b"));
  EXPECT_THAT(words_of("col\u00B7lega \u0645\u06CC\u200C\u062E a\u200D b"),
              ElementsAre("col\u00B7lega", "\u0645\u06CC\u200C\u062E", "a", "b"));
  EXPECT_THAT(words_of("e\u0301'a \u00E9'a e1'a"), ElementsAre("e\u0301'a", "\u00E9'a", "e1", "a"));
}

TEST_F(UnicodeWords, AreFoldedAndNormalised) {
  EXPECT_THAT(words_of("STRASSE Straße \u0391\u03A3 i", {.fold_case = true}),
              ElementsAre("strasse", "strasse", "\u03B1\u03C3", "i"));
  EXPECT_THAT(words_of("e\u0301t \u00E9t \uFB01n", {.normalize = normal_form::nfc}),
              ElementsAre("\u00E9t", "\u00E9t", "\uFB01n"));
  EXPECT_THAT(words_of("\uFB01n \uFF21b", {.fold_case = true, .normalize = normal_form::nfkc}),
              ElementsAre("fin", "ab"));
  EXPECT_THAT(words_of("\u1112\u1161\u11AB", {.normalize = normal_form::nfc}),
              ElementsAre("\uD55C"));
}

TEST_F(UnicodeWords, CanonicalEquivalentsAreOneWord) {
  // The iota subscript is behind the accent in one, before it in the others.
  for (const char* const text :
       {"\u1FB7", "\u03B1\u0342\u0345", "\u03B1\u0345\u0342", "\u1FB3\u0342"}) {
    EXPECT_THAT(words_of(text, {.fold_case = true, .normalize = normal_form::nfc}),
                ElementsAre("\u1FB6\u03B9"));
  }
  EXPECT_THAT(words_of("\u037A\u031A", {.fold_case = true, .normalize = normal_form::nfkc}),
              ElementsAre(" \u03B9\u031A"));
}

/// utf8proc 2.8 drops U+11A7 behind a syllable.
TEST_F(UnicodeWords, HangulIsComposedWithoutLoss) {
  EXPECT_THAT(words_of("\uC368\u11A7 \u1112\u1161\u11A7\u1112\u1161\u11AB\u11A7\u11A7",
                       {.normalize = normal_form::nfc}),
              ElementsAre("\uC368\u11A7", "\uD558\u11A7\uD55C\u11A7\u11A7"));
}

TEST_F(UnicodeWords, InvalidBytesSeparateWords) {
  EXPECT_THAT(words_of("a\xFF"
                       "b\xC3 c\xE2\x82"
                       "d\xC3"),
              ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(words_of("\xC0\xAF"
                       "a\xED\xA0\x80"
                       "b\xF4\x90\x80\x80"),
              ElementsAre("a", "b"));
}

TEST_F(UnicodeWords, UnchangedOnesAreViews) {
  const std::string text = "plain gr\u00FCn Big e\u0301";
  std::vector<bool> views;
  for_each_unicode_word(
      text,
      [&](std::string_view word) {
        views.push_back(word.data() >= text.data() && word.data() < text.data() + text.size());
      },
      {.fold_case = true, .normalize = normal_form::nfc});
  EXPECT_THAT(views, ElementsAre(true, true, false, false));
}

TEST_F(UnicodeWords, LongWordsAreWhole) {
  for (const std::size_t size : {8191u, 8192u, 8193u, 100000u}) {
    const std::string ascii(size, 'A'), other = "\u00C4" + ascii;
    EXPECT_THAT(
        words_of("X " + ascii + " Y " + other + " Z", {.fold_case = true}),
        ElementsAre("x", std::string(size, 'a'), "y", "\u00E4" + std::string(size, 'a'), "z"));
  }
}

struct oracle_case {
  word_options chosen;
  std::string text;
  strings words;
};

std::vector<oracle_case> cases_of_python(std::uint64_t seed) {
  std::vector<oracle_case> cases;
  for (const auto& [options, text, words] : oracle("words", seed)) {
    cases.push_back({.chosen = {.fold_case = options.find("fold") != std::string::npos,
                                .normalize = options.starts_with("nfc")    ? normal_form::nfc
                                             : options.starts_with("nfkc") ? normal_form::nfkc
                                                                           : normal_form::none,
                                .digits = options.find("letters") == std::string::npos},
                     .text = from_hex(text),
                     .words = split(words, ',')});
    for (std::string& word : cases.back().words) word = from_hex(word);
  }
  return cases;
}

struct count_words {
  using key_type = std::string_view;
  using value_type = std::uint64_t;
  word_options chosen;
  template <class Emit>
  void map(const mapreduce::text_split& split, Emit& emit) const {
    for_each_unicode_word(
        split.text, [&](std::string_view word) { emit(word, 1); }, chosen);
  }
  static void combine(std::uint64_t& into, std::uint64_t from) { into += from; }
};

TEST_F(UnicodeWords, AgreeWithPython) {
  const std::uint64_t seed = support::chosen_seed() % 1'000'000'000;
  SCOPED_TRACE(testing::Message() << "CREEK_TEST_SEED=" << seed);
  const std::vector<oracle_case> cases = cases_of_python(seed);
  ASSERT_EQ(cases.size(), 3000u);
  std::size_t words = 0;
  for (const oracle_case& one : cases) {
    ASSERT_EQ(words_of(one.text, one.chosen), one.words) << testing::PrintToString(one.text);
    words += one.words.size();
  }
  EXPECT_GT(words, 3000u);
}

TEST_F(UnicodeWords, CountsDoNotDependOnCutsAndWorkers) {
  const std::uint64_t seed = support::chosen_seed() % 1'000'000'000;
  SCOPED_TRACE(testing::Message() << "CREEK_TEST_SEED=" << seed);
  const word_options chosen{.fold_case = true, .normalize = normal_form::nfkc};
  std::string text;
  for (const oracle_case& one : cases_of_python(seed)) text += one.text + " ";
  std::map<std::string, std::uint64_t> expected;
  for (const std::string& word : words_of(text, chosen)) ++expected[word];
  for (const unsigned workers : {1u, 2u, 5u}) {
    runtime rt(scheduler_options{.workers = workers});
    for (const std::size_t split : {1u, 37u, 1000u, 1u << 20}) {
      for (const auto units : {mapreduce::text_units::words, mapreduce::text_units::lines}) {
        mapreduce::text_view from(text, split, units);
        std::map<std::string, std::uint64_t> counts;
        for (const auto& [word, count] :
             rt.run([&] { return mapreduce::run(count_words{chosen}, from); })) {
          counts[std::string(word)] = count;
        }
        EXPECT_EQ(counts, expected) << split << ' ' << workers;
      }
    }
  }
}

}  // namespace
}  // namespace creek::text

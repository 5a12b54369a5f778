// SPDX-License-Identifier: Apache-2.0
// Matches in lines, against Python's module re.
#include <creek/mapreduce.hpp>
#include <creek/text.hpp>

#include <gmock/gmock.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "oracle.hpp"
#include "support/seed.hpp"

namespace creek::text {
namespace {

using strings = std::vector<std::string>;
using testing::ElementsAre;

strings matches_of(std::string_view text, const pattern& wanted) {
  strings found;
  for_each_match(text, wanted, [&](std::string_view one) { found.emplace_back(one); });
  return found;
}

class Patterns : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_patterns()) GTEST_SKIP() << "built without RE2";
  }
};

TEST_F(Patterns, MatchWithinLines) {
  EXPECT_THAT(matches_of("ab 12\n34 c5\n", pattern("\\d+")), ElementsAre("12", "34", "5"));
  EXPECT_THAT(matches_of("a\nb", pattern("a\\s*b")), ElementsAre());
  EXPECT_THAT(matches_of("a b\nc d", pattern("^\\w")), ElementsAre("a", "c"));
  EXPECT_THAT(matches_of("a b\nc d", pattern("\\w$")), ElementsAre("b", "d"));
  EXPECT_THAT(matches_of("ab\na\nba", pattern("\\Aa|a\\z")), ElementsAre("a", "a", "a"));
  EXPECT_THAT(matches_of("ab\nb", pattern("(?s).+")), ElementsAre("ab", "b"));
  EXPECT_THAT(matches_of("x\n\nyx", pattern("x")), ElementsAre("x", "x"));
  EXPECT_THAT(matches_of("", pattern("x*")), ElementsAre());
  EXPECT_THAT(matches_of("b\xC3\xA4"
                         "aab",
                         pattern("a*")),
              ElementsAre("aa"));
  EXPECT_THAT(matches_of("Ab aB", pattern("ab", {.ignore_case = true})), ElementsAre("Ab", "aB"));
}

TEST_F(Patterns, InvalidBytesMatchOnlyAsBytes) {
  EXPECT_THAT(matches_of("a\xFF"
                         "b \xC3\xA4"
                         "b",
                         pattern(".b")),
              ElementsAre("\xC3\xA4"
                          "b"));
  EXPECT_THAT(matches_of("a\xFF"
                         "b",
                         pattern(".b", {.bytes = true})),
              ElementsAre("\xFF"
                          "b"));
}

TEST_F(Patterns, EveryByteMayBeginAMatch) {
  EXPECT_THAT(matches_of("a\x80\x81", pattern("\\x{81}*", {.bytes = true})), ElementsAre("\x81"));
}

TEST_F(Patterns, GroupsMayTakeNoPart) {
  std::vector<strings> found;
  for_each_match("k=v x\nz=", pattern("(\\w)=(\\w)?"), [&](match one) {
    found.push_back({std::string(one[0]), std::string(one[1]), one[2].data() ? "there" : "none"});
  });
  EXPECT_THAT(found, ElementsAre(ElementsAre("k=v", "k", "there"), ElementsAre("z=", "z", "none")));
  std::string twenty;
  for (int i = 0; i < 20; ++i) twenty += "(a)";
  const pattern many(twenty);
  EXPECT_EQ(many.groups(), 20u);
  for_each_match(std::string(20, 'a'), many, [&](match one) { EXPECT_EQ(one[20], "a"); });
}

TEST_F(Patterns, FaultsAreNamedWithTheirPosition) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"a(b", "pattern 'a(b': missing ): a(b at byte 3"},
      {"ab[z-a]", "pattern 'ab[z-a]': invalid character class range: z-a at byte 3"},
      {"a)|(b", "pattern 'a)|(b': unexpected ): a)|(b at byte 0"},
      {"x**", "pattern 'x**': bad repetition operator: ** at byte 1"},
      {"a\\1", "pattern 'a\\1': invalid escape sequence: \\1 at byte 1"}};
  for (const auto& [expression, why] : cases) {
    try {
      const pattern made(expression);
      ADD_FAILURE() << expression;
    } catch (const usage_error& e) {
      EXPECT_EQ(e.what(), why);
    }
  }
}

TEST_F(Patterns, AgreeWithPython) {
  const std::uint64_t seed = support::chosen_seed() % 1'000'000'000;
  SCOPED_TRACE(testing::Message() << "CREEK_TEST_SEED=" << seed);
  std::size_t found = 0;
  for (const auto& [expression, text, matches] : oracle("matches", seed)) {
    strings expected = split(matches, ','), wholes;
    const pattern wanted(from_hex(expression));
    strings made;
    for_each_match(from_hex(text), wanted, [&](match one) {
      wholes.emplace_back(one[0]);
      std::string groups;
      for (std::size_t i = 0; i < one.size(); ++i) {
        groups += i == 0 ? "" : "/";
        if (one[i].data() == nullptr) groups += "-";
        for (const char c : one[i]) {
          constexpr const char* digits = "0123456789abcdef";
          groups += {digits[static_cast<unsigned char>(c) / 16],
                     digits[static_cast<unsigned char>(c) % 16]};
        }
      }
      made.push_back(groups);
    });
    ASSERT_EQ(made, expected) << wanted.expression() << " in " << from_hex(text);
    ASSERT_EQ(matches_of(from_hex(text), wanted), wholes) << wanted.expression();
    found += made.size();
  }
  EXPECT_GT(found, 500u);
}

struct count_matches {
  using key_type = std::string_view;
  using value_type = std::uint64_t;
  pattern wanted;
  template <class Emit>
  void map(std::string_view text, Emit& emit) const {
    for_each_match(text, wanted, [&](std::string_view found) { emit(found, 1); });
  }
  static void combine(std::uint64_t& into, std::uint64_t from) { into += from; }
};

TEST_F(Patterns, CountsDoNotDependOnCutsAndWorkers) {
  std::string text;
  std::map<std::string, std::uint64_t> expected;
  for (int i = 0; i < 2000; ++i) {
    const std::string number = std::to_string(i % 97);
    text += "GET /" + number + (i % 3 == 0 ? "\n" : " ");
    ++expected["/" + number];
  }
  for (const unsigned workers : {1u, 2u, 5u}) {
    runtime rt(scheduler_options{.workers = workers});
    for (const std::size_t split : {1u, 37u, 1000u, 1u << 20}) {
      mapreduce::text_view from(text, split, mapreduce::text_units::lines);
      std::map<std::string, std::uint64_t> counts;
      for (const auto& [found, count] :
           rt.run([&] { return mapreduce::run(count_matches{pattern("/\\d+")}, from); })) {
        counts[std::string(found)] = count;
      }
      EXPECT_EQ(counts, expected) << split << ' ' << workers;
    }
  }
}

}  // namespace
}  // namespace creek::text

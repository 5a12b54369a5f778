// SPDX-License-Identifier: Apache-2.0
// The runs that vector code finds, against a loop over bytes, on every instruction set.
#include "word_runs.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/seed.hpp"

namespace creek::text::detail {
namespace {

using ranges = std::vector<std::pair<std::size_t, std::size_t>>;

struct facts {
  ranges runs;
  std::vector<bool> special, capital;  // per run
  friend bool operator==(const facts&, const facts&) = default;
};

facts by_bytes(const std::string& text, bool digits) {
  facts made;
  bool open = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool capital = c >= 'A' && c <= 'Z', special = c == '\'' || (c & 0x80) != 0;
    const bool in_run =
        capital || special || (c >= 'a' && c <= 'z') || (digits && c >= '0' && c <= '9');
    if (in_run && !open) {
      made.runs.emplace_back(i, i);
      made.special.push_back(false);
      made.capital.push_back(false);
    }
    if (in_run) {
      made.runs.back().second = i + 1;
      if (special) made.special.back() = true;
      if (capital) made.capital.back() = true;
    }
    open = in_run;
  }
  return made;
}

facts by_vectors(const std::string& text, bool digits) {
  // Without a byte behind it that AddressSanitizer would let pass.
  const std::vector<unsigned char> bytes(text.begin(), text.end());
  const auto runs = std::make_unique<word_runs>();
  find_word_runs(bytes.data(), bytes.size(), digits, *runs);
  facts made;
  for (std::size_t i = 0; i < runs->count; i += 2) {
    const std::size_t begin = runs->at[i], end = runs->at[i + 1];
    made.runs.emplace_back(begin, end);
    made.special.push_back(any_set(runs->special, begin, end));
    made.capital.push_back(any_set(runs->capital, begin, end));
  }
  return made;
}

TEST(WordRuns, AgreeWithBytesOnEveryInstructionSet) {
  const std::uint64_t seed = support::chosen_seed();
  SCOPED_TRACE(testing::Message() << "CREEK_TEST_SEED=" << seed);
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::GetChosenTarget().Update(target);
    std::mt19937_64 random(seed);
    std::string all;
    for (int c = 0; c < 256; ++c) all += {static_cast<char>(c), ' '};
    EXPECT_EQ(by_vectors(all, true), by_bytes(all, true)) << hwy::TargetName(target);
    for (int i = 0; i < 300; ++i) {
      std::string text(random() % 2 == 0 ? random() % 200 : random() % (run_block + 1), '\0');
      const std::uint64_t rare = 1 + random() % 100;
      for (char& c : text) {
        c = random() % rare == 0 ? static_cast<char>(random())
                                 : static_cast<char>('a' + random() % 26);
      }
      for (const bool digits : {true, false}) {
        ASSERT_EQ(by_vectors(text, digits), by_bytes(text, digits)) << hwy::TargetName(target);
      }
    }
    const std::string dense = [] {
      std::string made;
      for (std::size_t i = 0; i < run_block; ++i) made += i % 2 == 0 ? 'q' : ' ';
      return made;
    }();
    EXPECT_EQ(by_vectors(dense, true), by_bytes(dense, true));
  }
  hwy::GetChosenTarget().DeInit();
}

}  // namespace
}  // namespace creek::text::detail

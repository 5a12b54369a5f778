// SPDX-License-Identifier: Apache-2.0
#include <creek/power/say_once.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace creek::power {
namespace {

TEST(say_once, says_each_line_once) {
  testing::internal::CaptureStderr();
  say_once("no clocks here");
  say_once("no clocks here");
  say_once("nor there");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "creek: no clocks here\ncreek: nor there\n");
}

TEST(say_once, gives_lines_to_a_reader_until_there_is_none) {
  std::vector<std::string> lines;
  testing::internal::CaptureStderr();
  say_to([&](std::string_view line) { lines.emplace_back(line); });
  say_once("one");
  say_once("one");
  say_once("two");
  say_to({});
  say_once("two");
  say_once("three");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "creek: three\n");
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two"}));
}

}  // namespace
}  // namespace creek::power

// SPDX-License-Identifier: Apache-2.0
#include <creek/power/say_once.hpp>

#include <gtest/gtest.h>

namespace creek::power {
namespace {

TEST(say_once, says_each_line_once) {
  testing::internal::CaptureStderr();
  say_once("no clocks here");
  say_once("no clocks here");
  say_once("nor there");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "creek: no clocks here\ncreek: nor there\n");
}

}  // namespace
}  // namespace creek::power

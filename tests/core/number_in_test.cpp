// SPDX-License-Identifier: Apache-2.0
#include <creek/core/number_in.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

namespace creek {
namespace {

TEST(number_in, reads_all_of_a_text_or_nothing) {
  EXPECT_EQ(number_in<unsigned>("0"), 0u);
  EXPECT_EQ(number_in<unsigned>("4294967295"), 4294967295u);
  EXPECT_EQ(number_in<std::int64_t>("-1"), -1);
  for (const std::string_view wrong : {"", "max", "1 ", " 1", "1-2", "-1", "4294967296", "1.5"}) {
    EXPECT_EQ(number_in<unsigned>(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace creek

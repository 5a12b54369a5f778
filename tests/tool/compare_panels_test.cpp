// SPDX-License-Identifier: Apache-2.0
// The drawings of `creek compare` have the requested contents in the right place.
#include "output/drawing.hpp"

#include <gtest/gtest.h>

#include <string>

namespace creek::tool::compare {
namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(drawing, every_mark_has_a_point_and_only_intervals_have_whiskers) {
  drawing made("t", "s");
  made.add(range_panel{.title = "time",
                       .axis = "%",
                       .marks = {{.label = "a", .value = 1, .low = -1, .high = 3, .text = "one"},
                                 {.label = "b", .value = 2, .low = 2, .high = 2, .text = "two"}}});
  const std::string svg = made.svg();
  EXPECT_EQ(count(svg, "<circle"), 2U);
  EXPECT_EQ(count(svg, "<line class=\"mark\""), 3U);
  EXPECT_EQ(count(svg, "class=\"zero\""), 1U);
  EXPECT_EQ(count(svg, ">one<"), 1U);
}

TEST(drawing, stacked_bars_are_as_wide_as_their_shares) {
  drawing made("t", "s");
  made.add(stacked_panel{.title = "activity",
                         .axis = "%",
                         .parts = {"0", "1"},
                         .bars = {{.label = "a", .shares = {0.25, 0.75}}}});
  const std::string svg = made.svg();
  EXPECT_EQ(count(svg, "width=\"120.00\""), 1U);  // 0.25 of 480
  EXPECT_EQ(count(svg, "width=\"360.00\""), 1U);
}

TEST(drawing, lines_begin_at_the_origin_of_their_axes) {
  drawing made("t", "s");
  made.add(line_panel{.title = "energy",
                      .x_axis = "ms",
                      .y_axis = "J",
                      .lines = {{.label = "a", .points = {{0, 0}, {10, 4}}}}});
  const std::string svg = made.svg();
  EXPECT_EQ(count(svg, "<polyline"), 1U);
  EXPECT_NE(svg.find("points=\"150.0,"), std::string::npos);
  EXPECT_NE(svg.find(" 630.0,"), std::string::npos);
}

TEST(drawing, text_is_escaped_and_the_document_closed) {
  drawing made("a < b", "c & d");
  const std::string svg = made.svg();
  EXPECT_NE(svg.find("a &lt; b"), std::string::npos);
  EXPECT_NE(svg.find("c &amp; d"), std::string::npos);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

}  // namespace
}  // namespace creek::tool::compare

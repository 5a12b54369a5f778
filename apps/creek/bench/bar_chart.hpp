// SPDX-License-Identifier: Apache-2.0
// Horizontal bar charts as self-contained SVG: readable on light and dark pages, no script, no font
// to load.
#pragma once
#include <string>
#include <vector>

namespace creek::tool::bench {

struct bar {
  std::string label;
  double value = 0;
  std::string text;  ///< written at the bar's end
  bool highlight = false;
};

/// Bars under one heading.
struct bar_group {
  std::string heading;
  std::vector<bar> bars;
};

struct bar_chart {
  std::string title;
  std::string subtitle;
  std::string axis;  ///< label of the axis, with unit
  std::vector<bar_group> groups;
};

/// Returns the chart as an SVG document. The axis is logarithmic, and says so, if the values span
/// more than a factor of 20; bars then begin at the power of ten below the smallest value. Values
/// must not be negative.
std::string draw(const bar_chart& chart);

}  // namespace creek::tool::bench

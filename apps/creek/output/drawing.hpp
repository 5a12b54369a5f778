// SPDX-License-Identifier: Apache-2.0
// Drawings one below the other in one SVG document: differences with their intervals, shares as
// stacked bars, lines over time, bars.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace creek::tool {

/// A share and the interval in which it lies.
struct range_mark {
  std::string label;
  double value = 0;
  double low = 0, high = 0;  ///< equal: no interval
  std::string text;          ///< text at the right
};

/// Marks on a common axis on which 0 is drawn.
struct range_panel {
  std::string title, axis;
  std::vector<range_mark> marks;
};

struct stacked_bar {
  std::string label;
  std::vector<double> shares;  ///< parts of the bar; they sum to 1
};

struct stacked_panel {
  std::string title, axis;
  std::vector<std::string> parts;  ///< names of the parts, in the order of the shares
  std::vector<stacked_bar> bars;
};

struct line {
  std::string label;
  std::vector<std::pair<double, double>> points;
};

struct line_panel {
  std::string title, x_axis, y_axis;
  std::vector<line> lines;
};

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

/// A drawing of its own: horizontal bars on a common axis. The axis is logarithmic, and says so, if
/// the values span more than a factor of 20; bars then begin at the power of ten below the smallest
/// value. Values must not be negative.
struct bar_chart {
  std::string title;
  std::string subtitle;
  std::string axis;  ///< label of the axis, with unit
  std::vector<bar_group> groups;
};

/// Stacks panels from top to bottom; readable on light and dark pages, no script, no font to load.
class drawing {
 public:
  drawing(std::string title, std::string subtitle);

  void add(const range_panel& panel);
  void add(const stacked_panel& panel);
  void add(const line_panel& panel);
  void add(const bar_chart& chart);
  /// Returns the document.
  std::string svg() const;

 private:
  void heading(const std::string& text);
  void row_label(const std::string& text, double y);
  void caption(const std::string& text);

  std::string title_, subtitle_, body_;
  double y_;
};

/// Returns the chart as an SVG document.
std::string draw(const bar_chart& chart);

}  // namespace creek::tool

// SPDX-License-Identifier: Apache-2.0
// Drawings one below the other in one SVG document: differences with their intervals, shares as
// stacked bars, lines over time.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace creek::tool::compare {

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

/// Stacks panels from top to bottom; readable on light and dark pages, no script, no font to load.
class drawing {
 public:
  drawing(std::string title, std::string subtitle);

  void add(const range_panel& panel);
  void add(const stacked_panel& panel);
  void add(const line_panel& panel);
  /// Returns the document.
  std::string svg() const;

 private:
  void heading(const std::string& text);
  void row_label(const std::string& text, double y);
  void caption(const std::string& text);

  std::string title_, subtitle_, body_;
  double y_;
};

}  // namespace creek::tool::compare

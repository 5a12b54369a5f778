// SPDX-License-Identifier: Apache-2.0
#include "bar_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <creek/core/xml.hpp>
#include <iterator>

namespace creek::tool::bench {
namespace {

// Sizes in pixels.
constexpr double label_width = 150;
constexpr double plot_width = 480;
constexpr double text_width = 130;
constexpr double bar_height = 18;
constexpr double bar_gap = 6;
constexpr double group_gap = 30;
constexpr double head_height = 62;
constexpr double foot_height = 46;
constexpr double total_width = label_width + plot_width + text_width;

constexpr const char* style =
    "<style>text{font-family:system-ui,sans-serif;font-size:12px;fill:#57606a}"
    ".title{font-size:16px;font-weight:600;fill:#24292f}.heading{font-weight:600;fill:#24292f}"
    ".bar{fill:#9aa7b5}.own{fill:#1f6feb}.grid{stroke:#d0d7de;stroke-width:1}"
    "@media(prefers-color-scheme:dark){text{fill:#9da7b1}.title,.heading{fill:#e6edf3}"
    ".bar{fill:#57606a}.own{fill:#58a6ff}.grid{stroke:#30363d}}</style>\n";

/// Maps values to pixels and knows where its ticks are.
class scale {
 public:
  scale(double low, double high) : log_(low > 0 && high / low > 20) {
    if (log_) {
      low_ = std::pow(10, std::floor(std::log10(low)));
      if (low_ > low * 0.7) low_ /= 10;  // keeps the smallest bar visible
      high_ = high;
    } else {
      high_ = high > 0 ? high : 1;
    }
  }

  [[nodiscard]] bool logarithmic() const { return log_; }

  [[nodiscard]] double length(double value) const {
    if (!log_) return plot_width * value / high_;
    if (value <= low_) return 0;
    return plot_width * std::log(value / low_) / std::log(high_ / low_);
  }

  [[nodiscard]] std::vector<double> ticks() const {
    std::vector<double> all;
    if (log_) {
      for (double t = low_; t <= high_ * 1.0001; t *= 10) all.push_back(t);
      return all;
    }
    const double raw = high_ / 5;
    const double power = std::pow(10, std::floor(std::log10(raw)));
    const double step = raw / power < 1.5 ? power : raw / power < 3.5 ? 2 * power : 5 * power;
    for (double t = 0; t <= high_ * 1.0001; t += step) all.push_back(t);
    return all;
  }

 private:
  bool log_;
  double low_ = 0;
  double high_ = 1;
};

scale scale_of(const bar_chart& chart) {
  double low = 0;
  double high = 0;
  for (const auto& group : chart.groups) {
    for (const auto& b : group.bars) {
      if (b.value > 0 && (low == 0 || b.value < low)) low = b.value;
      high = std::max(high, b.value);
    }
  }
  return {low, high};
}

double height_of(const bar_chart& chart) {
  double height = head_height + foot_height;
  for (const auto& group : chart.groups) {
    height += group_gap + static_cast<double>(group.bars.size()) * (bar_height + bar_gap);
  }
  return height;
}

using output = std::back_insert_iterator<std::string>;

void draw_grid(output out, const scale& s, double bottom) {
  for (const double tick : s.ticks()) {
    const double x = label_width + s.length(tick);
    fmt::format_to(out,
                   "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>\n",
                   x, head_height, bottom);
    fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:g}</text>\n", x,
                   bottom + 16, tick);
  }
}

void draw_bar(output out, const scale& s, const bar& b, double y) {
  const double length = s.length(b.value);
  const double base = y + bar_height - 5;
  fmt::format_to(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", label_width - 8,
                 base, detail::xml_escaped(b.label));
  fmt::format_to(out,
                 "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" rx=\"2\"/>\n",
                 b.highlight ? "own" : "bar", label_width, y, length, bar_height);
  fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{}\">{}</text>\n", label_width + length + 6, base,
                 detail::xml_escaped(b.text));
}

}  // namespace

std::string draw(const bar_chart& chart) {
  const scale s = scale_of(chart);
  const double height = height_of(chart);
  const double bottom = height - foot_height;
  std::string svg;
  const output out(svg);
  fmt::format_to(out,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                 "viewBox=\"0 0 {0} {1}\" role=\"img\">\n<title>{2}</title>\n{3}",
                 total_width, height, detail::xml_escaped(chart.title), style);
  fmt::format_to(out, "<text class=\"title\" x=\"8\" y=\"24\">{}</text>\n",
                 detail::xml_escaped(chart.title));
  fmt::format_to(out, "<text x=\"8\" y=\"44\">{}</text>\n", detail::xml_escaped(chart.subtitle));
  draw_grid(out, s, bottom);
  double y = head_height;
  for (const auto& group : chart.groups) {
    fmt::format_to(out, "<text class=\"heading\" x=\"8\" y=\"{}\">{}</text>\n", y + 18,
                   detail::xml_escaped(group.heading));
    y += group_gap;
    for (const auto& b : group.bars) {
      draw_bar(out, s, b, y);
      y += bar_height + bar_gap;
    }
  }
  fmt::format_to(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}{}</text>\n</svg>\n",
                 label_width + plot_width / 2, height - 10, detail::xml_escaped(chart.axis),
                 s.logarithmic() ? " (logarithmic)" : "");
  return svg;
}

}  // namespace creek::tool::bench

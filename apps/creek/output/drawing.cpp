// SPDX-License-Identifier: Apache-2.0
#include "drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <creek/core/xml.hpp>

namespace creek::tool {
namespace {

// Sizes in pixels.
constexpr double label_width = 150;
constexpr double plot_width = 480;
constexpr double text_width = 220;
constexpr double total_width = label_width + plot_width + text_width;
constexpr double head_height = 54;
constexpr double row_height = 18;
constexpr double row_gap = 6;
constexpr double heading_height = 30;
constexpr double axis_height = 44;
constexpr double lines_height = 220;

/// Colours for readers with red-green blindness; the first six are from [Okabe 2008].
constexpr const char* colours[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                   "#56b4e9", "#d55e00", "#8c6bb1", "#999999"};
const char* colour(std::size_t i) {
  return colours[i % std::size(colours)];
}

/// Returns colours from grey for no workers to blue for all.
std::string ramp(std::size_t i, std::size_t count) {
  if (i == 0) return "#b8bec5";
  const double t = count > 2 ? static_cast<double>(i - 1) / static_cast<double>(count - 2) : 1;
  const auto mix = [t](double from, double to) {
    return static_cast<int>(std::lround(std::lerp(from, to, t)));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(198, 8), mix(219, 69), mix(239, 148));
}

constexpr const char* style =
    "<style>text{font-family:system-ui,sans-serif;font-size:12px;fill:#57606a}"
    ".title{font-size:16px;font-weight:600;fill:#24292f}.heading{font-weight:600;fill:#24292f}"
    ".grid{stroke:#d0d7de;stroke-width:1}.zero{stroke:#57606a;stroke-width:1.5}"
    ".bar{fill:#9aa7b5}.own{fill:#1f6feb}.mark{fill:#1f6feb;stroke:#1f6feb;stroke-width:2}.line{"
    "fill:none;stroke-width:1.5}"
    "@media(prefers-color-scheme:dark){text{fill:#9da7b1}.title,.heading{fill:#e6edf3}"
    ".bar{fill:#57606a}.own{fill:#58a6ff}.mark{fill:#58a6ff;stroke:#58a6ff}.grid{stroke:#30363d}."
    "zero{stroke:#9da7b1}}</style>\n";

/// Returns a round number for the step between ticks.
double step_of(double span) {
  const double raw = span / 5;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  const double lead = raw / power;
  return lead < 1.5 ? power : lead < 3.5 ? 2 * power : lead < 7.5 ? 5 * power : 10 * power;
}

/// Maps low .. high to a length in pixels, with ticks at round numbers.
struct axis {
  double low, high, length;

  axis(double from, double to, double pixels) : low(from), high(to), length(pixels) {
    if (!(high > low)) high = low + 1;
  }
  double at(double value) const { return length * (value - low) / (high - low); }
  std::vector<double> ticks() const {
    const double step = step_of(high - low);
    std::vector<double> all;
    for (double i = std::ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) {
      all.push_back(i * step);
    }
    return all;
  }
};

void text(std::string& to, double x, double y, const char* anchor, const std::string& what) {
  fmt::format_to(std::back_inserter(to),
                 "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                 detail::xml_escaped(what));
}

void straight(std::string& to, const char* kind, double x1, double y1, double x2, double y2) {
  fmt::format_to(std::back_inserter(to),
                 "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                 kind, x1, y1, x2, y2);
}

void box(std::string& to, double x, double y, double width, double height,
         const std::string& fill) {
  fmt::format_to(
      std::back_inserter(to),
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x, y,
      width, height, fill);
}

void vertical_grid(std::string& to, const axis& along, double top, double bottom) {
  for (const double tick : along.ticks()) {
    const double x = label_width + along.at(tick);
    straight(to, std::abs(tick) < 1e-12 ? "zero" : "grid", x, top, x, bottom);
    text(to, x, bottom + 16, "middle", fmt::format("{:.6g}", std::abs(tick) < 1e-12 ? 0 : tick));
  }
}

axis axis_of(const range_panel& panel) {
  double low = 0, high = 0;
  for (const range_mark& mark : panel.marks) {
    low = std::min({low, mark.value, mark.low});
    high = std::max({high, mark.value, mark.high});
  }
  const double margin = high > low ? (high - low) * 0.06 : 1;
  return {low - margin, high + margin, plot_width};
}

axis axis_over(const line_panel& panel, bool of_x, double pixels) {
  double high = 0;
  for (const line& each : panel.lines) {
    for (const auto& [x, y] : each.points) high = std::max(high, of_x ? x : y);
  }
  return {0, high, pixels};
}

/// Maps values to pixels and knows where its ticks are.
class bar_scale {
 public:
  bar_scale(double low, double high) : log_(low > 0 && high / low > 20) {
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
    const double step = step_of(high_);
    for (double t = 0; t <= high_ * 1.0001; t += step) all.push_back(t);
    return all;
  }

 private:
  bool log_;
  double low_ = 0;
  double high_ = 1;
};

bar_scale scale_of(const bar_chart& chart) {
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

}  // namespace

drawing::drawing(std::string title, std::string subtitle)
    : title_(std::move(title)), subtitle_(std::move(subtitle)), y_(head_height) {}

void drawing::heading(const std::string& what) {
  fmt::format_to(std::back_inserter(body_),
                 "<text class=\"heading\" x=\"8\" y=\"{:.1f}\">{}</text>\n", y_ + 18,
                 detail::xml_escaped(what));
  y_ += heading_height;
}

void drawing::row_label(const std::string& what, double y) {
  text(body_, label_width - 8, y + row_height - 5, "end", what);
}

void drawing::caption(const std::string& what) {
  text(body_, label_width + plot_width / 2, y_ + 34, "middle", what);
  y_ += axis_height;
}

void drawing::add(const range_panel& panel) {
  heading(panel.title);
  const axis along = axis_of(panel);
  const double bottom = y_ + static_cast<double>(panel.marks.size()) * (row_height + row_gap);
  vertical_grid(body_, along, y_, bottom);
  for (const range_mark& mark : panel.marks) {
    row_label(mark.label, y_);
    const double middle = y_ + row_height / 2;
    const auto x = [&](double value) { return label_width + along.at(value); };
    if (mark.high > mark.low) {
      straight(body_, "mark", x(mark.low), middle, x(mark.high), middle);
      for (const double end : {mark.low, mark.high}) {
        straight(body_, "mark", x(end), middle - 5, x(end), middle + 5);
      }
    }
    fmt::format_to(std::back_inserter(body_),
                   "<circle class=\"mark\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"/>\n", x(mark.value),
                   middle);
    text(body_, label_width + plot_width + 8, y_ + row_height - 5, "start", mark.text);
    y_ += row_height + row_gap;
  }
  caption(panel.axis);
}

void drawing::add(const stacked_panel& panel) {
  heading(panel.title);
  const axis along(0, 100, plot_width);
  const double bottom = y_ + static_cast<double>(panel.bars.size()) * (row_height + row_gap);
  vertical_grid(body_, along, y_, bottom);
  double legend = y_;
  for (std::size_t i = 0; i < panel.parts.size(); ++i) {
    const double x = label_width + plot_width + 8 + static_cast<double>(i % 3) * 68;
    box(body_, x, legend + 4, 10, 10, ramp(i, panel.parts.size()));
    text(body_, x + 14, legend + 13, "start", panel.parts[i]);
    if (i % 3 == 2) legend += row_height;
  }
  for (const stacked_bar& bar : panel.bars) {
    row_label(bar.label, y_);
    double from = 0;
    for (std::size_t i = 0; i < bar.shares.size(); ++i) {
      const double width = along.at(100 * bar.shares[i]);
      box(body_, label_width + from, y_, width, row_height, ramp(i, bar.shares.size()));
      from += width;
    }
    y_ += row_height + row_gap;
  }
  caption(panel.axis);
  y_ = std::max(y_, legend + row_height);
}

void drawing::add(const line_panel& panel) {
  heading(panel.title);
  const axis across = axis_over(panel, true, plot_width);
  const axis up = axis_over(panel, false, lines_height);
  const double bottom = y_ + lines_height;
  vertical_grid(body_, across, y_, bottom);
  for (const double tick : up.ticks()) {
    const double y = bottom - up.at(tick);
    straight(body_, "grid", label_width, y, label_width + plot_width, y);
    text(body_, label_width - 8, y + 4, "end", fmt::format("{:.6g}", tick));
  }
  text(body_, 8, y_ + 12, "start", panel.y_axis);
  for (std::size_t i = 0; i < panel.lines.size(); ++i) {
    std::string points;
    for (const auto& [x, y] : panel.lines[i].points) {
      points += fmt::format("{:.1f},{:.1f} ", label_width + across.at(x), bottom - up.at(y));
    }
    fmt::format_to(std::back_inserter(body_),
                   "<polyline class=\"line\" stroke=\"{}\" points=\"{}\"/>\n", colour(i), points);
    const double legend = y_ + static_cast<double>(i) * row_height;
    box(body_, label_width + plot_width + 8, legend + 4, 10, 10, colour(i));
    text(body_, label_width + plot_width + 24, legend + 13, "start", panel.lines[i].label);
  }
  y_ = bottom;
  caption(panel.x_axis);
}

void drawing::add(const bar_chart& chart) {
  const bar_scale along = scale_of(chart);
  double bottom = y_;
  for (const bar_group& group : chart.groups) {
    bottom += heading_height + static_cast<double>(group.bars.size()) * (row_height + row_gap);
  }
  for (const double tick : along.ticks()) {
    const double x = label_width + along.length(tick);
    straight(body_, "grid", x, y_, x, bottom);
    text(body_, x, bottom + 16, "middle", fmt::format("{:g}", tick));
  }
  for (const bar_group& group : chart.groups) {
    heading(group.heading);
    for (const bar& each : group.bars) {
      row_label(each.label, y_);
      const double length = along.length(each.value);
      fmt::format_to(
          std::back_inserter(body_),
          "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" rx=\"2\"/>\n",
          each.highlight ? "own" : "bar", label_width, y_, length, row_height);
      text(body_, label_width + length + 6, y_ + row_height - 5, "start", each.text);
      y_ += row_height + row_gap;
    }
  }
  caption(chart.axis + (along.logarithmic() ? " (logarithmic)" : ""));
}

std::string drawing::svg() const {
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" role=\"img\">\n<title>{2}</title>\n{3}<text class=\"title\" x=\"8\" y=\"24\">{2}"
      "</text>\n",
      total_width, y_ + 8, detail::xml_escaped(title_), style);
  text(out, 8, 44, "start", subtitle_);
  return out + body_ + "</svg>\n";
}

std::string draw(const bar_chart& chart) {
  drawing to(chart.title, chart.subtitle);
  to.add(chart);
  return to.svg();
}

}  // namespace creek::tool

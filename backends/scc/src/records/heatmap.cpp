// SPDX-License-Identifier: Apache-2.0
// Three panels side by side, each the mesh with one cell per core, row 0 at the bottom as on the
// chip. Cells show their value where there is room; each cell's tooltip has all values.
#include "heatmap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string>

#include <creek/core/xml.hpp>

namespace creek::scc_backend {

link_loads::link_loads(const chip& of, const tile_flows& flows) {
  const int tiles = of.columns * of.rows;
  right.resize(static_cast<std::size_t>(tiles));
  up.resize(static_cast<std::size_t>(tiles));
  for (int from = 0; from < tiles; ++from) {
    for (int to = 0; to < tiles; ++to) {
      const std::uint64_t bytes = flows.between(from, to);
      if (bytes == 0) continue;
      const int here = from / of.columns, there = to / of.columns;
      const int begin = from % of.columns, end = to % of.columns;
      for (int x = std::min(begin, end); x < std::max(begin, end); ++x) {
        right[static_cast<std::size_t>(here * of.columns + x)] += bytes;
      }
      for (int y = std::min(here, there); y < std::max(here, there); ++y) {
        up[static_cast<std::size_t>(y * of.columns + end)] += bytes;
      }
    }
  }
}

std::uint64_t link_loads::highest() const noexcept {
  return std::max(*std::max_element(right.begin(), right.end()),
                  *std::max_element(up.begin(), up.end()));
}

namespace {

// Sizes in pixels.
constexpr double margin = 28;
constexpr double panel_width = 504;
constexpr double panel_gap = 36;
constexpr double head_height = 118;
constexpr double foot_height = 74;
constexpr double largest_tile = 84;   ///< from tile to tile
constexpr double room_for_text = 34;  ///< width of a cell that shows its value

constexpr int steps = 10;

struct colour {
  double r, g, b;
};

/// A scale of one hue: lowest, middle and highest value.
struct ramp {
  char name;
  std::array<colour, 3> light, dark;
};

// Low values recede into the background, high ones stand out from it, in both surroundings.
constexpr std::array<ramp, 3> ramps{{
    {'b',
     {{{234, 240, 247}, {111, 168, 220}, {11, 61, 115}}},
     {{{32, 42, 54}, {46, 111, 176}, {196, 225, 255}}}},
    {'t',
     {{{248, 240, 228}, {240, 163, 79}, {138, 60, 7}}},
     {{{48, 40, 31}, {186, 104, 28}, {255, 224, 178}}}},
    {'p',
     {{{247, 235, 241}, {219, 112, 160}, {112, 16, 74}}},
     {{{50, 35, 44}, {170, 58, 112}, {255, 208, 228}}}},
}};

std::string hex_at(const std::array<colour, 3>& stops, int step) {
  const double at = 2.0 * step / (steps - 1);
  const auto low = static_cast<std::size_t>(std::min(1.0, std::floor(at)));
  const double part = at - static_cast<double>(low);
  const auto mixed = [&](double a, double b) { return std::lround(a + (b - a) * part); };
  const colour &a = stops[low], &b = stops[low + 1];
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(a.r, b.r), mixed(a.g, b.g), mixed(a.b, b.b));
}

std::string style() {
  std::string css =
      "<style>text{font-family:system-ui,sans-serif;fill:#57606a;font-size:12px}"
      ".back{fill:#fff}.title{font-size:20px;font-weight:600;fill:#1f2328}"
      ".heading{font-size:15px;font-weight:600;fill:#1f2328}"
      ".on{fill:#1f2328}.in{fill:#fff}.cell{text-anchor:middle}.end{text-anchor:end}"
      ".island{fill:none;stroke:#8c959f}";
  std::string dark =
      "@media(prefers-color-scheme:dark){text{fill:#9da7b1}.back{fill:#14181d}"
      ".title,.heading{fill:#e6edf3}.on{fill:#e6edf3}.in{fill:#14181d}.island{stroke:#6e7781}";
  for (const ramp& r : ramps) {
    for (int step = 0; step < steps; ++step) {
      constexpr const char* rule = ".{0}{1}{{fill:{2}}}.l{0}{1}{{stroke:{2}}}";
      css += fmt::format(rule, r.name, step, hex_at(r.light, step));
      dark += fmt::format(rule, r.name, step, hex_at(r.dark, step));
    }
  }
  return css + dark + "}</style>\n";
}

/// Formats two digits and a decimal prefix: 1.2 k, 46 M.
std::string short_number(double value) {
  constexpr const char* prefixes[] = {"", " k", " M", " G", " T", " P"};
  std::size_t thousands = 0;
  while (value >= 999.5 && thousands + 1 < std::size(prefixes)) value /= 1000, ++thousands;
  const bool whole = value == std::floor(value) || value >= 9.95;
  return fmt::format("{:.{}f}{}", value, whole ? 0 : 1, prefixes[thousands]);
}

std::string with_unit(double bytes) {
  const std::string number = short_number(bytes);
  return number + (number.back() <= '9' ? " B" : "B");
}

/// Formats 12.3 ms, 456 µs.
std::string short_time(virtual_time span) {
  double value = span.in_seconds().value;
  for (const char* unit : {"s", "ms", "µs"}) {
    if (value >= 1) return fmt::format("{:.4g} {}", value, unit);
    value *= 1000;
  }
  return fmt::format("{:.4g} ns", value);
}

class picture {
 public:
  picture(const chip& of, const usage_report& usage, const link_loads& links, virtual_time length)
      : chip_(of),
        usage_(usage),
        links_(links),
        length_(length),
        pitch_(std::min(largest_tile, panel_width / of.columns)),
        gap_(std::clamp(pitch_ * 0.17, 1.0, 14.0)),
        cell_columns_(static_cast<int>(std::ceil(std::sqrt(2.0 * of.cores_per_tile) * 0.99))),
        mesh_height_(pitch_ * of.rows) {
    if (of.cores_per_tile == 1) cell_columns_ = 1;
  }

  std::string draw() {
    const double width = 2 * margin + 3 * panel_width + 2 * panel_gap;
    const double height = head_height + mesh_height_ + foot_height;
    put(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" )"
        R"(height="{1:.0f}" role="img">)"
        "\n",
        width, height);
    svg_ += style();
    put(R"(<rect class="back" width="{:.0f}" height="{:.0f}"/>)"
        "\n",
        width, height);
    draw_head();
    draw_busy(margin);
    draw_traffic(margin + panel_width + panel_gap);
    draw_power(margin + 2 * (panel_width + panel_gap));
    return svg_ + "</svg>\n";
  }

 private:
  template <class... Arguments>
  void put(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(svg_), format, std::forward<Arguments>(arguments)...);
  }

  double mean_watts(units::joules energy) const {
    return length_.femtoseconds == 0 ? 0 : (energy / length_.in_seconds()).value;
  }
  double busy_percent(const core_usage& core) const {
    return length_.femtoseconds == 0 ? 0 : 100 * (core.busy.in_seconds() / length_.in_seconds());
  }

  void draw_head() {
    const std::string title =
        fmt::format("{} · {} cores · {} simulated", chip_.name, chip_.cores(), short_time(length_));
    put(R"(<title>{}</title><text class="title" x="{:.0f}" y="38">{}</text>)"
        "\n",
        detail::xml_escaped(title), margin, detail::xml_escaped(title));
    put(R"(<text x="{:.0f}" y="60">{}J in all, {:.1f} W on average, of which {:.1f} W )"
        R"(outside the tiles</text>)"
        "\n",
        margin, spaced(usage_.total.value), mean_watts(usage_.total), mean_watts(usage_.uncore));
  }

  static std::string spaced(double joules) {
    if (joules >= 1) return fmt::format("{:.4g} ", joules);
    if (joules >= 1e-3) return fmt::format("{:.3g} m", joules * 1e3);
    return fmt::format("{:.3g} µ", joules * 1e6);
  }

  void draw_panel_head(double x, const char* heading, const std::string& about) {
    put(R"(<text class="heading" x="{0:.0f}" y="90">{1}</text><text x="{0:.0f}" y="107">{2}</text>)"
        "\n",
        x, heading, about);
  }

  /// Draws the scale under a panel.
  void draw_legend(double x, const ramp& colours, const std::string& low, const std::string& high,
                   const std::string& beside = {}) {
    const double y = head_height + mesh_height_ + 20;
    for (int step = 0; step < steps; ++step) {
      put(R"(<rect class="{}{}" x="{:.0f}" y="{:.1f}" width="20" height="12"/>)", colours.name,
          step, x + 20 * step, y);
    }
    put(R"(<text x="{:.0f}" y="{:.1f}">{}</text><text class="end" x="{:.0f}" y="{:.1f}">{}</text>)"
        R"(<text class="end" x="{:.0f}" y="{:.1f}">{}</text>)"
        "\n",
        x, y + 28, low, x + 20 * steps, y + 28, high, x + pitch_ * chip_.columns - gap_, y + 10,
        beside);
  }

  struct place {
    double x, y;
  };
  /// Returns the upper left corner of a tile.
  place tile_at(double panel, int tile) const {
    return {panel + pitch_ * (tile % chip_.columns),
            head_height + pitch_ * (chip_.rows - 1 - tile / chip_.columns) + gap_ / 2};
  }

  static int step_of(double value, double highest) {
    if (highest <= 0) return 0;
    return std::clamp(static_cast<int>(value / highest * steps), 0, steps - 1);
  }

  std::string about(int core) const {
    const core_usage& u = usage_.cores[static_cast<std::size_t>(core)];
    const mesh_place at = chip_.place(core_id{core});
    return fmt::format("core {} at ({}, {}): busy {:.1f} %, {}; {} in, {} out of its MPB; {:.3g} W",
                       core, at.x, at.y, busy_percent(u), "waiting " + short_time(u.waiting),
                       with_unit(double(u.bytes_in)), with_unit(double(u.bytes_out)),
                       mean_watts(u.energy));
  }

  template <class Value, class Text>
  void draw_cells(double panel, const ramp& colours, double highest, Value value, Text text) {
    const int k = chip_.cores_per_tile;
    const int columns = std::min(cell_columns_, k), rows = (k + columns - 1) / columns;
    const double inner = pitch_ - gap_;
    const double width = inner / columns, height = inner / rows;
    const double seam = std::min(1.0, width / 8);
    for (int core = 0; core < chip_.cores(); ++core) {
      const place corner = tile_at(panel, core / k);
      const int within = core % k;
      const double x = corner.x + width * (within % columns);
      const double y = corner.y + height * (rows - 1 - within / columns);
      const double shown = value(core);
      const int step = step_of(shown, highest);
      put(R"(<rect class="{}{}" x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" )"
          R"(rx="{:.1f}"><title>{}</title></rect>)",
          colours.name, step, x + seam / 2, y + seam / 2, width - seam, height - seam,
          std::min(3.0, width / 6), about(core));
      if (width < room_for_text || height < room_for_text) continue;
      const char* ink = step < 6 ? "on" : "in";
      put(R"(<text class="cell {0}" x="{1:.1f}" y="{2:.1f}" font-size="9" )"
          R"(style="font-size:9px;opacity:.75">{3}</text>)"
          R"(<text class="cell {0}" x="{1:.1f}" y="{4:.1f}">{5}</text>)",
          ink, x + width / 2, y + 14, core, y + height / 2 + 8, text(shown));
    }
    svg_ += '\n';
  }

  void draw_busy(double x) {
    draw_panel_head(x, "Busy time", "share of the run in which a core computed, in percent");
    draw_cells(
        x, ramps[0], 100,
        [&](int core) { return busy_percent(usage_.cores[static_cast<std::size_t>(core)]); },
        [](double v) { return fmt::format("{:.{}f}", v, v < 9.95 ? 1 : 0); });
    draw_legend(x, ramps[0], "0 %", "100 %");
  }

  void draw_link(place from, place to, std::uint64_t bytes, std::uint64_t highest) {
    const double part = highest == 0 ? 0 : double(bytes) / double(highest);
    put(R"(<line class="lt{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" )"
        R"(stroke-width="{:.2f}"><title>{}</title></line>)",
        step_of(part, 1), from.x, from.y, to.x, to.y,
        std::max(0.6, pitch_ * (0.02 + 0.3 * std::sqrt(part))), with_unit(double(bytes)));
  }

  void draw_links(double panel) {
    const std::uint64_t highest = links_.highest();
    const double half = (pitch_ - gap_) / 2;
    for (int tile = 0; tile < chip_.columns * chip_.rows; ++tile) {
      const auto t = static_cast<std::size_t>(tile);
      const place corner = tile_at(panel, tile);
      const place centre{corner.x + half, corner.y + half};
      if (tile % chip_.columns + 1 < chip_.columns) {
        draw_link(centre, {centre.x + pitch_, centre.y}, links_.right[t], highest);
      }
      if (tile / chip_.columns + 1 < chip_.rows) {
        draw_link(centre, {centre.x, centre.y - pitch_}, links_.up[t], highest);
      }
    }
    svg_ += '\n';
  }

  void draw_traffic(double x) {
    draw_panel_head(x, "Message-passing memory",
                    "bytes into and out of each core's; between the tiles, bytes over each link");
    const auto bytes = [&](int core) {
      const core_usage& u = usage_.cores[static_cast<std::size_t>(core)];
      return double(u.bytes_in + u.bytes_out);
    };
    double highest = 0;
    for (int core = 0; core < chip_.cores(); ++core) highest = std::max(highest, bytes(core));
    draw_links(x);
    draw_cells(x, ramps[1], highest, bytes, short_number);
    draw_legend(x, ramps[1], "0", with_unit(highest),
                "widest link " + with_unit(double(links_.highest())));
  }

  void draw_islands(double panel) {
    for (int island = 0; island < island_count(chip_); ++island) {
      int first = -1, last = -1;
      for (int tile = 0; tile < chip_.columns * chip_.rows; ++tile) {
        if (island_of_tile(chip_, tile) != island) continue;
        if (first < 0) first = tile;
        last = tile;
      }
      const place low = tile_at(panel, first), high = tile_at(panel, last);
      const double room = gap_ * 0.3;
      put(R"(<rect class="island" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="{:.1f}" )"
          R"(stroke-width="{:.2f}"><title>island {}: {:.3g} W</title></rect>)",
          low.x - room, high.y - room, high.x - low.x + pitch_ - gap_ + 2 * room,
          low.y - high.y + pitch_ - gap_ + 2 * room, room + 3, std::min(1.5, gap_ * 0.15), island,
          mean_watts(usage_.islands[static_cast<std::size_t>(island)]));
    }
    svg_ += '\n';
  }

  void draw_power(double x) {
    draw_panel_head(x, "Power", "of each core, its mean over the run, in watts; voltage islands");
    const auto watts = [&](int core) {
      return mean_watts(usage_.cores[static_cast<std::size_t>(core)].energy);
    };
    double highest = 0;
    for (int core = 0; core < chip_.cores(); ++core) highest = std::max(highest, watts(core));
    draw_islands(x);
    draw_cells(x, ramps[2], highest, watts, [](double v) { return fmt::format("{:.2f}", v); });
    draw_legend(x, ramps[2], "0 W", fmt::format("{:.2f} W", highest));
  }

  const chip& chip_;
  const usage_report& usage_;
  const link_loads& links_;
  virtual_time length_;
  double pitch_, gap_;
  int cell_columns_;
  double mesh_height_;
  std::string svg_;
};

}  // namespace

std::string heatmap(const chip& of, const usage_report& usage, const tile_flows& flows,
                    virtual_time length) {
  const link_loads links(of, flows);
  return picture(of, usage, links, length).draw();
}

}  // namespace creek::scc_backend

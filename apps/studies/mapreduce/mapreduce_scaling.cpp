// SPDX-License-Identifier: Apache-2.0
#include "mapreduce_scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <creek/core/error.hpp>

#include "json/json_value.hpp"

namespace creek::tool::bench {
namespace {

const scaling_point* point_of(const scaling_series& one, int workers) {
  const auto found =
      std::ranges::find_if(one.points, [&](const auto& p) { return p.workers == workers; });
  return found == one.points.end() ? nullptr : &*found;
}

std::size_t index_of(mapreduce::stage which) {
  return static_cast<std::size_t>(which);
}

}  // namespace

std::optional<double> scaling_series::speedup(const scaling_point& point, int against) const {
  const scaling_point* base = point_of(*this, against);
  if (base == nullptr || !(point.total_ms > 0)) return std::nullopt;
  return base->total_ms / point.total_ms;
}

std::optional<double> scaling_series::speedup(const scaling_point& point,
                                              mapreduce::stage which) const {
  const scaling_point* base = point_of(*this, 1);
  const std::size_t i = index_of(which);
  if (base == nullptr || !(point.stages_ms[i] > 0)) return std::nullopt;
  if (!(base->stages_ms[i] > base->total_ms / 1000)) return std::nullopt;
  return base->stages_ms[i] / point.stages_ms[i];
}

std::string stage_heading(const scaling_words& words) {
  std::string line = fmt::format("{:>7} {:>10}", words.workers, "total");
  for (const char* stage : mapreduce::stage_names) line += fmt::format(" {:>9}", stage);
  return line;
}

std::string times_row(const scaling_point& point) {
  std::string line = fmt::format("{:>7} {:>10.3f}", point.workers, point.total_ms);
  for (const double ms : point.stages_ms) line += fmt::format(" {:>9.3f}", ms);
  return line;
}

std::string times(std::optional<double> factor) {
  return factor ? fmt::format("{:.2f}", *factor) : "-";
}

std::string speedup_row(const scaling_series& one, const scaling_point& point) {
  std::string line = fmt::format("{:>7} {:>10}", point.workers, times(one.speedup(point, 1)));
  for (std::size_t i = 0; i < mapreduce::stage_count; ++i) {
    const auto which = static_cast<mapreduce::stage>(i);
    line += fmt::format(" {:>9}", times(one.speedup(point, which)));
  }
  return line;
}

std::string csv_cell(std::optional<double> value) {
  return value ? fmt::format("{}", *value) : "";
}

json_value number_or_null(std::optional<double> value) {
  return value ? json_value(*value) : json_value();
}

std::string csv_heading(const scaling_words& words) {
  std::string line = fmt::format("workload,input_bytes,strategy,{},{}", words.workers, words.unit);
  for (const char* stage : mapreduce::stage_names) line += fmt::format(",{}_{}", stage, words.unit);
  line += ",speedup_1";
  for (const char* stage : mapreduce::stage_names) line += fmt::format(",{}_speedup_1", stage);
  return line;
}

std::string csv_row(const scaling_series& one, const scaling_point& point) {
  std::string line =
      fmt::format("{},{},{},{},{}", one.workload, one.input_bytes,
                  way_names[static_cast<std::size_t>(one.how)], point.workers, point.total_ms);
  for (const double ms : point.stages_ms) line += fmt::format(",{}", ms);
  line += "," + csv_cell(one.speedup(point, 1));
  for (std::size_t i = 0; i < mapreduce::stage_count; ++i) {
    line += "," + csv_cell(one.speedup(point, static_cast<mapreduce::stage>(i)));
  }
  return line;
}

std::vector<way> ways_of(const std::vector<std::string>& names, const std::vector<way>& offered) {
  std::vector<way> chosen;
  for (const way how : offered) {
    const char* const name = way_names[static_cast<std::size_t>(how)];
    if (names.empty() || std::ranges::find(names, name) != names.end()) chosen.push_back(how);
  }
  for (const std::string& name : names) {
    if (std::ranges::none_of(
            offered, [&](way how) { return name == way_names[static_cast<std::size_t>(how)]; })) {
      throw usage_error("unknown strategy '" + name + "'");
    }
  }
  return chosen;
}

}  // namespace creek::tool::bench

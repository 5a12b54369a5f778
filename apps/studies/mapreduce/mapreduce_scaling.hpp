// SPDX-License-Identifier: Apache-2.0
// How the stages of a MapReduce job speed up: tables and columns that the studies of the host and
// of the simulated chip have in common. A series holds wall time or virtual time, never both.
#pragma once

#include <creek/mapreduce/options.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "json/json_value.hpp"
#include "way.hpp"

namespace creek::tool::bench {

/// A number of workers, or of simulated cores, and the time that they took.
struct scaling_point {
  int workers = 0;
  double total_ms = 0;
  std::array<double, mapreduce::stage_count> stages_ms{};
};

/// Results of one workload, run one way.
struct scaling_series {
  std::string workload;
  std::size_t input_bytes = 0;
  way how = way::combine;
  std::vector<scaling_point> points;

  /// Returns the speed-up over `against` workers, or nullopt if those were not measured.
  [[nodiscard]] std::optional<double> speedup(const scaling_point& point, int against) const;
  /// Returns the speed-up of one stage over one worker, or nullopt if that was not measured, or if
  /// the stage takes one worker less than a thousandth of the whole, which is too short to tell.
  [[nodiscard]] std::optional<double> speedup(const scaling_point& point,
                                              mapreduce::stage which) const;
};

/// Names of the worker count and the unit of time: "cores" and "virtual ms".
struct scaling_words {
  const char* workers;
  const char* unit;
};

/// Returns the heading of a table of stages, without a line end; rows below it have these columns.
[[nodiscard]] std::string stage_heading(const scaling_words& words);
[[nodiscard]] std::string times_row(const scaling_point& point);
[[nodiscard]] std::string speedup_row(const scaling_series& one, const scaling_point& point);
[[nodiscard]] std::string times(std::optional<double> factor);

/// Returns the column names of a CSV file, or the values of a point, without a line end. The unit
/// in the heading has no blank: "virtual_ms".
[[nodiscard]] std::string csv_heading(const scaling_words& words);
[[nodiscard]] std::string csv_row(const scaling_series& one, const scaling_point& point);
/// Returns a number as text, or an empty text.
[[nodiscard]] std::string csv_cell(std::optional<double> value);

[[nodiscard]] json_value number_or_null(std::optional<double> value);

/// Returns the ways that --strategy names; empty: all. Throws usage_error for one not in `offered`.
[[nodiscard]] std::vector<way> ways_of(const std::vector<std::string>& names,
                                       const std::vector<way>& offered);

}  // namespace creek::tool::bench

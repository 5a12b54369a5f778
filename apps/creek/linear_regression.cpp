// SPDX-License-Identifier: Apache-2.0
// `creek linear-regression`: finds the line of best fit through points.
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <creek/core/error.hpp>
#include <creek/core/io/data_fault.hpp>
#include <creek/mapreduce.hpp>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "command_line/command.hpp"
#include "commands.hpp"
#include "jobs/job_options.hpp"
#include "jobs/job_run.hpp"
#include "options/csv_options.hpp"
#include "output/counted.hpp"

namespace creek::tool {
namespace {

using mapreduce::byte_point;
using mapreduce::real_point;

enum class point_format { text, bytes, doubles };

struct regression_arguments {
  job_options job;
  csv_arguments csv;
  point_format format = point_format::text;
};

constexpr const char* regression_notes =
    R"(Points are two columns of text, x and y, or, with --format bytes or doubles, binary records of two
such numbers in the byte order of this machine.
{}
{}

  creek linear-regression --columns height,weight people.csv
  creek linear-regression --columns 3,1 --separator tab --json measured.tsv
  creek linear-regression --format bytes --workers 2 points.bin)";

/// Sums of doubles that find and name any value that is not a number.
struct finite_line_fit : mapreduce::line_fit<real_point> {
  using split_type = mapreduce::record_span<real_point>;

  static void fill(const mapreduce::record_span<real_point>& points, std::span<double> into) {
    line_fit::fill(points, into);
    for (const double sum : into) {
      if (!std::isfinite(sum)) look_at(points);
    }
  }

 private:
  static void look_at(const mapreduce::record_span<real_point>& points) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      for (const double value : {points[i].x, points[i].y}) {
        if (std::isfinite(value)) continue;
        fail(data_fault::malformed,
             fmt::format("{}: record at byte {}: {} is not a finite number", points.file_name(),
                         points.from.offset + i * sizeof(real_point), value));
      }
    }
  }
};

struct fit {
  mapreduce::fitted_line line;
  std::uint64_t points;
  job_report report;
};

template <class Point, class Job, class Input>
fit fit_points(job_run& run, const Job& job, Input& from) {
  const auto summed = run.on_all(job, from);
  std::array<typename Job::value_type, 5> sums{};
  for (const auto& [key, sum] : summed) sums[key] = sum;
  const std::uint64_t points = run.bytes_done() / sizeof(Point);
  return {mapreduce::fit_line(points, sums), points, run.report(from.files())};
}

fit fit_files(const regression_arguments& given, job_run& run) {
  run.start();
  const auto names = input_names(given.job);
  const mapreduce::text_files::settings how{.skip_unreadable = given.job.skip_unreadable};
  if (given.format == point_format::bytes) {
    mapreduce::fixed_records<byte_point> from(names, 1, how);
    return fit_points<byte_point>(run, mapreduce::line_fit<byte_point>{}, from);
  }
  if (given.format == point_format::doubles) {
    mapreduce::fixed_records<real_point> from(names, 1, how);
    return fit_points<real_point>(run, finite_line_fit{}, from);
  }
  mapreduce::csv_records<real_point> from(names, format_of(given.csv), how);
  return fit_points<real_point>(run, mapreduce::line_fit<real_point>{}, from);
}

void say(const regression_arguments& given, const fit& made) {
  const bool flat = std::isnan(made.line.r_squared);  // all y are equal: nothing to explain
  print_results(given.job, made.report,
                {.command = "linear-regression",
                 .members =
                     [&] {
                       return json_value{{"n", made.points},
                                         {"slope", made.line.slope},
                                         {"intercept", made.line.intercept},
                                         {"r2", flat ? json_value() : made.line.r_squared}};
                     },
                 .print_lines =
                     [&] {
                       fmt::print("{}\t{}\t{}\t{}\n", made.line.slope, made.line.intercept,
                                  made.line.r_squared, made.points);
                     },
                 .print_text =
                     [&] {
                       fmt::print(
                           "slope      {}\nintercept  {}\nr2         {}\nn          {}\n\n",
                           made.line.slope, made.line.intercept,
                           flat ? "none: all y are equal" : fmt::format("{}", made.line.r_squared),
                           made.points);
                       print_run(stdout, made.report);
                     }});
}

/// Fits in one process, or on one of the ranks.
void linear_regression(const regression_arguments& given, rank_group* ranks) {
  job_run run(given.job, ranks);
  const fit made = fit_files(given, run);
  if (!run.has_results()) return;
  if (!std::isfinite(made.line.slope) || !std::isfinite(made.line.intercept)) {
    throw error(EDOM, fmt::format("no line through {}: no two of clearly different x, or too large",
                                  counted(made.points, "point")));
  }
  say(given, made);
}

}  // namespace

void add_linear_regression(command_line::command& app, int& exit_code) {
  auto given = std::make_shared<regression_arguments>();
  command_line::command* command = app.add_subcommand("linear-regression", "Fit a line to points");
  command->footer(fmt::format(regression_notes, csv_notes, names_notes));
  add_job_options(*command, given->job, "Print only SLOPE TAB INTERCEPT TAB R2 TAB N", {"mpi"});
  command
      ->add_choice("--format", given->format,
                   {{"text", point_format::text},
                    {"bytes", point_format::bytes},
                    {"doubles", point_format::doubles}},
                   "Contents of the files")
      ->option_text("text|bytes|doubles");
  add_csv_options(*command, given->csv);
  command->callback([given, command, &exit_code] {
    if (given->format != point_format::text) {
      refuse(*command, {"--columns", "--separator", "--header"}, "needs --format text");
    }
    (void)format_of(given->csv);
    exit_code = on_ranks_if_asked(*command, given->job,
                                  [&](rank_group* ranks) { linear_regression(*given, ranks); });
  });
}

}  // namespace creek::tool

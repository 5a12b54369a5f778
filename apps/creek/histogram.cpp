// SPDX-License-Identifier: Apache-2.0
// `creek histogram`: counts how often each value of each colour occurs in images.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <creek/core/error.hpp>
#include <creek/mapreduce.hpp>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "command_line/command.hpp"
#include "commands.hpp"
#include "jobs/job_options.hpp"
#include "jobs/job_run.hpp"
#include "output/output_file.hpp"

namespace creek::tool {
namespace {

struct histogram_arguments {
  job_options job;
  bool raw = false;
  int bins = 16;
  std::string output;
};

constexpr const char* histogram_notes =
    R"(Bitmaps (BMP) must have 24 bits per pixel and no compression; rows may start at the bottom or at
the top. In a directory every file must be a bitmap. With --raw, files consist of pixels of three
bytes, red, green, blue, and nothing else. The counts of all files are added up.
{}

  creek histogram photo.bmp
  creek histogram --bins 256 --quiet photos/
  creek histogram --raw --output counts.tsv frame.rgb
  zcat frame.rgb.gz | creek histogram --raw --json)";

/// counts[c][v] is the number of pixels with the value v in red, green or blue.
using colour_counts = std::array<std::array<std::uint64_t, 256>, 3>;

template <class Input>
std::pair<colour_counts, job_report> count_colours(job_run& run, Input& from, bool blue_first) {
  const auto counted = run.on_all(mapreduce::colour_histogram{}, from);
  colour_counts counts{};
  for (const auto& [key, count] : counted) {
    const std::size_t c = key / 256u;
    counts[blue_first ? 2 - c : c][key % 256u] = count;
  }
  return {counts, run.report(from.files())};
}

/// Returns lines of the smallest value of a bin and the counts of the three colours in it.
std::string bin_lines(const colour_counts& counts, int bins) {
  const std::size_t width = 256 / static_cast<std::size_t>(bins);
  std::string lines;
  for (std::size_t least = 0; least < 256; least += width) {
    lines += fmt::format("{}", least);
    for (const auto& colour : counts) {
      lines += fmt::format(
          "\t{}", std::accumulate(colour.begin() + least, colour.begin() + least + width, 0ull));
    }
    lines += '\n';
  }
  return lines;
}

void print_table(const colour_counts& counts, int bins) {
  const std::size_t width = 256 / static_cast<std::size_t>(bins);
  fmt::print("\n{:>9} {:>14} {:>14} {:>14}\n", "values", "red", "green", "blue");
  for (std::size_t least = 0; least < 256; least += width) {
    fmt::print("{:>9}", width == 1 ? fmt::format("{}", least)
                                   : fmt::format("{} - {}", least, least + width - 1));
    for (const auto& colour : counts) {
      fmt::print(" {:>14}",
                 std::accumulate(colour.begin() + least, colour.begin() + least + width, 0ull));
    }
    fmt::print("\n");
  }
}

void say(const histogram_arguments& given, const colour_counts& counts, const job_report& report) {
  const std::uint64_t pixels = std::accumulate(counts[0].begin(), counts[0].end(), 0ull);
  print_results(
      given.job, report,
      {.command = "histogram",
       .members =
           [&] {
             return json_value{
                 {"pixels", pixels}, {"red", counts[0]}, {"green", counts[1]}, {"blue", counts[2]}};
           },
       .print_lines =
           [&] {
             if (given.output.empty()) fmt::print("{}", bin_lines(counts, given.bins));
           },
       .print_text =
           [&] {
             fmt::print("{} pixels {}\n", pixels, input_text(report));
             print_run(stdout, report);
             print_table(counts, given.bins);
           }});
}

void check(const histogram_arguments& given) {
  if (given.bins < 1 || given.bins > 256 || !std::has_single_bit(static_cast<unsigned>(given.bins)))
    throw usage_error(fmt::format("--bins must be 1, 2, 4, ... or 256, got {}", given.bins));
}

/// Counts in one process, or on one of the ranks.
void histogram(const histogram_arguments& given, rank_group* ranks) {
  job_run run(given.job, ranks);
  output_file out(run.has_results() ? given.output : "");
  run.start();
  const mapreduce::text_files::settings how{.skip_unreadable = given.job.skip_unreadable};
  const auto names = input_names(given.job);
  const auto [counts, report] = [&] {
    if (given.raw) {
      mapreduce::fixed_records<mapreduce::pixel> from(names, 1, how);
      return count_colours(run, from, false);
    }
    mapreduce::bitmap_files from(names, how);
    return count_colours(run, from, true);
  }();
  if (!run.has_results()) return;
  out.write("value\tred\tgreen\tblue\n" + bin_lines(counts, 256));
  say(given, counts, report);
}

}  // namespace

void add_histogram(command_line::command& app, int& exit_code) {
  auto given = std::make_shared<histogram_arguments>();
  command_line::command* command = app.add_subcommand("histogram", "Count the colours of images");
  command->footer(fmt::format(histogram_notes, names_notes));
  add_job_options(*command, given->job, "Print only lines VALUE TAB RED TAB GREEN TAB BLUE",
                  {"mpi"});
  command->add_flag("--raw", given->raw, "Read files of bytes red, green, blue instead of bitmaps");
  command->add_option("--bins", given->bins, "Number of rows of the table: 1, 2, 4, ... 256")
      ->show_default();
  command->add_option("--output", given->output,
                      "Write lines VALUE TAB RED TAB GREEN TAB BLUE of all 256 values to FILE");
  command->callback([given, command, &exit_code] {
    check(*given);
    exit_code = on_ranks_if_asked(*command, given->job,
                                  [&](rank_group* ranks) { histogram(*given, ranks); });
  });
}

}  // namespace creek::tool

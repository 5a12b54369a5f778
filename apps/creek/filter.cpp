// SPDX-License-Identifier: Apache-2.0
// `creek filter`: prints the lines of files that contain a string.
#include <fmt/format.h>

#include <creek/mapreduce.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "command_line/command.hpp"
#include "commands.hpp"
#include "jobs/byte_text.hpp"
#include "jobs/job_options.hpp"
#include "jobs/job_run.hpp"
#include "output/text_output.hpp"

namespace creek::tool {
namespace {

struct filter_arguments {
  job_options job;
  std::string pattern;
  std::string output;
  bool count = false;
  bool numbers = false;
  bool names = false;
  bool invert = false;
};

constexpr const char* filter_notes =
    R"(The string is bytes within a line; upper and lower case differ. Lines are printed in the order of
the files and of the lines in them, after all files have been searched; a line end is added to a last
line without one.
{}

  creek filter error server.log
  creek filter --line-numbers --names deprecated src/
  creek filter --invert --count '#' hosts
  zcat log.gz | creek filter --output errors.txt error)";

using filter_result = mapreduce::result<mapreduce::line_filter>;

void write_lines(const filter_arguments& given, const filter_result& found,
                 const mapreduce::text_files& files, text_output& out) {
  std::uint32_t file = 0;
  std::uint64_t before = 1;  // number of a piece's first line
  for (const auto& [from, piece] : found) {
    if (from.file != file) before = 1;
    file = from.file;
    for (const mapreduce::filtered_line& line : piece.lines) {
      if (given.names) out.write(files.name(file) + ":");
      if (given.numbers) out.write(fmt::format("{}:", before + line.number));
      out.write(line.text);
      if (!line.text.ends_with('\n')) out.write("\n");
    }
    before += piece.seen;
  }
}

/// Writes the number of lines found, in all files or in each.
void write_counts(const filter_arguments& given, const filter_result& found,
                  const mapreduce::text_files& files, text_output& out) {
  std::vector<std::uint64_t> counts(given.names ? files.size() : 1);
  for (const auto& [from, piece] : found) counts[given.names ? from.file : 0] += piece.found;
  for (std::uint32_t i = 0; i < counts.size(); ++i) {
    out.write(given.names ? fmt::format("{}:{}\n", files.name(i), counts[i])
                          : fmt::format("{}\n", counts[i]));
  }
}

json_value to_json(const filter_arguments& given, const filter_result& found) {
  std::uint64_t lines = 0, seen = 0;
  for (const auto& [from, piece] : found) {
    lines += piece.found;
    seen += piece.seen;
  }
  json_value all, pattern;
  add_text(pattern, "pattern", given.pattern);
  for (const auto& [name, value] : pattern.members()) {  // `bytes` is the size of the input
    all[name == "pattern" ? name : "pattern_" + name] = value;
  }
  all.update(json_value{{"inverted", given.invert}, {"lines", seen}, {"found", lines}});
  return all;
}

mapreduce::filter_detail detail_of(const filter_arguments& given) {
  if (given.count || (given.job.as_json && given.output.empty())) {
    return mapreduce::filter_detail::counts;
  }
  return given.numbers || given.names ? mapreduce::filter_detail::lines
                                      : mapreduce::filter_detail::text;
}

void filter(const command_line::command& command, const filter_arguments& given) {
  if (given.count) refuse(command, {"--line-numbers"}, "not with --count");
  if (given.job.as_json && given.output.empty()) {
    refuse(command, {"--line-numbers", "--names"},
           "needs --output with --json, because JSON output has no lines");
  }
  const mapreduce::line_filter job(given.pattern, {detail_of(given), given.invert});
  job_run run(given.job);
  text_output out(given.output);
  run.start();
  mapreduce::text_files files(input_names(given.job), {.skip_unreadable = given.job.skip_unreadable,
                                                       .units = mapreduce::text_units::lines});
  const filter_result found = run(job, files);
  const job_report report = run.report(files);
  if (!given.job.as_json || !given.output.empty()) {
    if (given.count) {
      write_counts(given, found, files, out);
    } else {
      write_lines(given, found, files, out);
    }
    out.done();
  }
  print_results(given.job, report,
                {.command = "filter", .members = [&] { return to_json(given, found); }});
}

}  // namespace

void add_filter(command_line::command& app, int&) {
  auto given = std::make_shared<filter_arguments>();
  auto* command = app.add_subcommand("filter", "Print the lines that contain a string");
  command->footer(fmt::format(filter_notes, names_notes));
  command->add_option("pattern", given->pattern, "String to search for")
      ->required()
      ->option_text("PATTERN");
  add_job_options(*command, given->job, "Print no progress bar and no notes on skipped files");
  command->add_flag("--count", given->count, "Print the number of lines instead");
  command->add_flag("--line-numbers", given->numbers,
                    "Print the number of each line, from 1, before it");
  command->add_flag("--names", given->names, "Print the file's name before lines or counts");
  command->add_flag("--invert", given->invert, "Print the lines that do not contain the string");
  command->add_option("--output", given->output, "Write to FILE instead of standard output");
  command->callback([given, command] { filter(*command, *given); });
}

}  // namespace creek::tool

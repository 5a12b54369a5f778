// SPDX-License-Identifier: Apache-2.0
// `creek string-match`: counts how often each of several strings occurs in files.
#include <fmt/format.h>

#include <creek/core/error.hpp>
#include <creek/core/io/open_file.hpp>
#include <creek/mapreduce.hpp>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "command_line/command.hpp"
#include "commands.hpp"
#include "jobs/byte_text.hpp"
#include "jobs/job_options.hpp"
#include "jobs/job_run.hpp"
#include "output/counted.hpp"

namespace creek::tool {
namespace {

struct match_arguments {
  job_options job;
  std::vector<std::string> patterns;
  std::string list;
};

constexpr const char* match_notes =
    R"(Strings are bytes within a line; upper and lower case differ. Two numbers are counted per string:
its occurrences, including overlapping ones, and the lines that contain it. Without --pattern and
--patterns the first argument is the string.
{}

  creek string-match error /var/log
  creek string-match -e GET -e POST -e HEAD access.log
  zcat log.gz | creek string-match --patterns names.txt --json -)";

/// Returns the lines of a pattern file, which must end and have a size that can be searched for.
std::vector<std::string> lines_of_file(const std::string& name) {
  constexpr std::size_t max_bytes = std::size_t{16} << 20;
  const open_file file(name);
  std::string text;
  char piece[4096];
  for (std::size_t n; (n = file.read(piece, sizeof(piece))) != 0;) {
    text.append(piece, n);
    if (text.size() > max_bytes) throw usage_error("--patterns " + name + ": larger than 16 MiB");
  }
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::vector<std::string> take_patterns(match_arguments& given) {
  std::vector<std::string> patterns = given.patterns;
  if (!given.list.empty()) {
    for (std::string& line : lines_of_file(given.list)) patterns.push_back(std::move(line));
    if (patterns.empty()) throw usage_error("--patterns " + given.list + ": contains no strings");
  }
  if (patterns.empty()) {
    if (given.job.names.empty())
      throw usage_error("string-match: a string to search for is required");
    patterns.push_back(given.job.names.front());
    given.job.names.erase(given.job.names.begin());
  }
  return patterns;
}

using match_result = mapreduce::result<mapreduce::string_match>;

json_value rows_json(const std::vector<std::string>& patterns, const match_result& found) {
  json_value rows = json_value::array();
  for (const auto& [k, counts] : found) {
    json_value row;
    add_text(row, "pattern", patterns[k]);
    row["occurrences"] = counts.occurrences;
    row["lines"] = counts.lines;
    rows.push_back(std::move(row));
  }
  return rows;
}

void print_text(const std::vector<std::string>& patterns, const match_result& found,
                const job_report& report) {
  fmt::print("{} {}\n", counted(patterns.size(), "string"), input_text(report));
  print_run(stdout, report);
  fmt::print("\n{:>12} {:>12}  string\n", "occurrences", "lines");
  for (const auto& [k, counts] : found) {
    fmt::print("{:>12} {:>12}  {}\n", counts.occurrences, counts.lines, printable(patterns[k]));
  }
}

void print_lines(const std::vector<std::string>& patterns, const match_result& found) {
  for (const auto& [k, counts] : found) {
    fmt::print("{}\t{}\t{}\n", patterns[k], counts.occurrences, counts.lines);
  }
}

/// Counts in one process, or on one of the ranks.
void match(const match_arguments& given, const std::vector<std::string>& patterns,
           const mapreduce::string_match& job, rank_group* ranks) {
  job_run run(given.job, ranks);
  run.start();
  mapreduce::text_files files(input_names(given.job), {.skip_unreadable = given.job.skip_unreadable,
                                                       .units = mapreduce::text_units::lines});
  const match_result found = run.on_all(job, files);
  const job_report report = run.report(files);
  if (!run.has_results()) return;
  print_results(given.job, report,
                {.command = "string-match",
                 .members =
                     [&] {
                       return json_value{{"patterns", rows_json(patterns, found)}};
                     },
                 .print_lines = [&] { print_lines(patterns, found); },
                 .print_text = [&] { print_text(patterns, found, report); }});
}

}  // namespace

void add_string_match(command_line::command& app, int& exit_code) {
  auto given = std::make_shared<match_arguments>();
  command_line::command* command = app.add_subcommand("string-match", "Count strings in files");
  command->footer(fmt::format(match_notes, names_notes));
  add_job_options(*command, given->job, "Print only lines STRING TAB OCCURRENCES TAB LINES",
                  {"mpi"});
  command
      ->add_option("-e,--pattern", given->patterns, "String to count; may be given several times")
      ->one_word();
  command->add_option("--patterns", given->list, "File with one string to count per line");
  command->callback([given, command, &exit_code] {
    const std::vector<std::string> patterns = take_patterns(*given);
    const mapreduce::string_match job(patterns);
    exit_code = on_ranks_if_asked(*command, given->job,
                                  [&](rank_group* ranks) { match(*given, patterns, job, ranks); });
  });
}

}  // namespace creek::tool

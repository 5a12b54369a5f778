// SPDX-License-Identifier: Apache-2.0
#include "job_report.hpp"

#include <fmt/format.h>

#include <creek/core/version.hpp>
#include <fstream>
#include <iterator>

#include "byte_text.hpp"
#include "command_line/process.hpp"
#include "output/counted.hpp"

namespace creek::tool {

using json = json_value;

namespace {

double milliseconds(std::chrono::nanoseconds t) {
  return std::chrono::duration<double, std::milli>(t).count();
}

std::string stages_text(const mapreduce::stage_times& stages) {
  std::string line;
  for (std::size_t i = 0; i < mapreduce::stage_count; ++i) {
    const auto spent = stages.spent[i];
    if (spent.count() == 0) continue;
    line += fmt::format("{}{} {:.1f}", line.empty() ? "" : ", ", mapreduce::stage_names[i],
                        milliseconds(spent));
  }
  return line;
}

double bytes_a_second(const job_report& report) {
  const double seconds = std::chrono::duration<double>(report.elapsed).count();
  return seconds > 0 ? static_cast<double>(report.bytes) / seconds : 0;
}

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
  constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(units); ++unit) value /= 1000;
  return fmt::format("{:.{}f} {}", value, unit == 0 ? 0 : 1, units[unit]);
}

std::string input_text(const job_report& report, const char* kind) {
  return fmt::format("in {}{} from {}", bytes_text(report.bytes), kind,
                     counted(report.files, "file"));
}

std::uint64_t peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  }
  return 0;
}

job_report describe(const runtime& workers, const mapreduce::text_files& files) {
  const scheduler_options& options = workers.options();
  job_report report;
  report.backend = workers.backend_name();
  report.scheduler = to_string(options.scheduler);
  report.idle = to_string(options.idle);
  report.workers = workers.worker_count();
  report.files = files.size();
  report.skipped = files.skipped();
  report.bytes = files.visited_bytes();
  report.mapped_bytes = files.mapped_bytes();
  report.peak_bytes = peak_resident_bytes();
  return report;
}

void print_run(std::FILE* to, const job_report& report) {
  fmt::print(to, "{:.3f} s, {}/s with {} ({}, {}, {})\n",
             std::chrono::duration<double>(report.elapsed).count(),
             bytes_text(static_cast<std::uint64_t>(bytes_a_second(report))),
             counted(report.workers, "worker"), report.backend, report.scheduler, report.idle);
  fmt::print(to, "stages (ms): {}\n", stages_text(report.stages));
  if (report.spilled) {
    fmt::print(to, "spilled {} in {}, at most {} of intermediate data in memory\n",
               bytes_text(report.spilled->bytes), counted(report.spilled->runs, "run"),
               bytes_text(report.spilled->peak));
  }
}

json run_json(const job_report& report) {
  json stages = json::object();
  for (std::size_t i = 0; i < mapreduce::stage_count; ++i) {
    stages[mapreduce::stage_names[i]] = milliseconds(report.stages.spent[i]);
  }
  json all = {{"version", version()},
              {"backend", report.backend},
              {"scheduler", report.scheduler},
              {"idle", report.idle},
              {"workers", report.workers},
              {"files", report.files},
              {"skipped", report.skipped},
              {"bytes", report.bytes},
              {"mapped_bytes", report.mapped_bytes},
              {"peak_resident_bytes", report.peak_bytes},
              {"milliseconds", milliseconds(report.elapsed)},
              {"bytes_per_second", bytes_a_second(report)},
              {"stages_ms", stages}};
  if (report.ranks > 0) all["ranks"] = report.ranks;
  if (report.spilled) {
    all["spilled"] = {{"bytes", report.spilled->bytes},
                      {"runs", report.spilled->runs},
                      {"peak_bytes", report.spilled->peak}};
  }
  return all;
}

void say_skipped(const job_options& given, const job_report& report) {
  if (given.quiet) return;
  for (const std::string& line : report.skipped) {
    command_line::print_error("creek: skipped " + line);
  }
}

void print_results(const job_options& given, const job_report& report, const result_forms& forms) {
  // Raised when a member of a command changes its meaning or is removed; new members do not raise
  // it.
  constexpr int schema = 1;
  say_skipped(given, report);
  if (given.as_json) {
    json all = {{"schema_version", schema}, {"command", forms.command}};
    all.update(run_json(report));
    all.update(forms.members());
    fmt::print("{}\n", dump(all));
  } else if (const auto& print = given.quiet ? forms.print_lines : forms.print_text) {
    print();
  }
}

}  // namespace creek::tool

// SPDX-License-Identifier: Apache-2.0
// Facts of a MapReduce job over files, and functions that print them.
#pragma once

#include <chrono>
#include <creek/mapreduce/inputs/files.hpp>
#include <creek/mapreduce/memory_limit.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/tasking/runtime.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "job_options.hpp"
#include "json/json_value.hpp"

namespace creek::tool {

/// The facts of a finished run that do not depend on the job.
struct job_report {
  std::string backend;
  std::string scheduler;
  std::string idle;
  unsigned workers = 0;
  int ranks = 0;  // that worked together with --backend mpi; 0 without
  std::size_t files = 0;
  std::vector<std::string> skipped;
  std::uint64_t bytes = 0;             // bytes of input, after decompression
  std::uint64_t mapped_bytes = 0;      // part of them read through mappings
  std::uint64_t peak_bytes = 0;        // peak resident size with mapped files; 0: unknown
  std::chrono::nanoseconds elapsed{};  // time to find the files and run the job, without output
  mapreduce::stage_times stages;
  std::optional<mapreduce::spill_use> spilled;  // set for a run with --memory
};

/// Returns the peak resident memory of the process, with mapped files, bytes; 0 if unknown.
[[nodiscard]] std::uint64_t peak_resident_bytes();

/// Returns all facts except those that the caller measures: `elapsed` and `stages`.
[[nodiscard]] job_report describe(const runtime& workers, const mapreduce::text_files& files);

/// Prints time, rate, workers and stages in two lines.
void print_run(std::FILE* to, const job_report& report);

/// Returns the JSON members that all commands have.
[[nodiscard]] json_value run_json(const job_report& report);

/// Prints a line on standard error for every file that was left out, unless --quiet.
void say_skipped(const job_options& given, const job_report& report);

/// The forms in which a command prints its results.
struct result_forms {
  const char* command;
  std::function<json_value()> members;     ///< of the JSON object, besides those of run_json()
  std::function<void()> print_lines = {};  ///< with --quiet
  std::function<void()> print_text = {};
};
/// Prints what was left out, and the results in the form that the options ask for.
void print_results(const job_options& given, const job_report& report, const result_forms& forms);

[[nodiscard]] std::string bytes_text(std::uint64_t bytes);
/// Returns "in 1.5 MB from 2 files"; `kind` is put before "from", as in "in 1.5 MB of text from".
[[nodiscard]] std::string input_text(const job_report& report, const char* kind = "");

}  // namespace creek::tool

// SPDX-License-Identifier: Apache-2.0
// One comparison of creek with other libraries, the machine's limits and its own other settings.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "comparison.hpp"

namespace creek::tool::bench {

/// The choices of a command line.
struct bench_options {
  std::string group = "tasking";
  std::vector<unsigned> workers;
  std::vector<std::string> workloads;
  std::vector<std::string> peers;
  std::vector<std::int64_t> sizes;
  size_class size = size_class::full;
  bool quick = false;
  bool one_worker_too = true;  ///< by default; else all workers alone
  int rounds = 0;
  int limit_s = 120;
  std::string scheduler, deque, idle;
  std::string json, svg, folder;
  std::vector<std::string> library_folders, libraries;
};

/// Parts of the study that a subcommand measures after the limits.
enum class part { workloads, schedulers, both };

/// Measures what the options choose, writes their files and prints the report. Returns the exit
/// code: 1 if anything failed. Throws usage_error for names that are not known.
int run_study(const bench_options& o, part which);

}  // namespace creek::tool::bench

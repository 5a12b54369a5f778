// SPDX-License-Identifier: Apache-2.0
// Results of `creek wordcount`, and functions that print them.
#pragma once

#include <creek/mapreduce/jobs/word_count.hpp>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "jobs/job_report.hpp"
#include "jobs/stage_use.hpp"

namespace creek::tool {

using word_record = mapreduce::record<std::string_view, std::uint64_t>;

/// The facts of a count on a simulated chip. All times are virtual.
struct simulated_count {
  std::string chip;
  std::uint64_t seed = 0;
  double cycles_a_host_second = 0;  // rate of --clock measured; 0: charged
  int cores = 0;
  exact_time length;
  stage_uses stages;
  std::uint64_t sent_bytes = 0;  // from core to core
  units::joules energy;          // energy of the whole chip, idle cores included
};

/// The facts of a finished count.
struct wordcount_report {
  job_report run;
  bool combined = true;
  std::uint64_t words = 0;
  std::uint64_t distinct = 0;
  std::span<const word_record> top;
  // Set on a simulated chip: then there are no wall times, and no workers, scheduler and idle.
  std::optional<simulated_count> simulated;
  std::uint64_t sent_bytes = 0;  // pairs from rank to rank
};

/// Prints the report for people on `to`.
void print_text(std::FILE* to, const wordcount_report& report);

/// Returns the report for programs; for a simulated chip without wall times, so that it is the same
/// in every run with --clock charged.
[[nodiscard]] std::string to_json(const wordcount_report& report);

}  // namespace creek::tool

// SPDX-License-Identifier: Apache-2.0
// What a benchmark run hands on: a table for people, JSON for programs, charts for pages.
#pragma once
#include <cstdio>
#include <string>
#include <vector>

#include "comparison.hpp"

namespace creek::tool::bench {

/// The machine and the source that figures belong to.
struct surroundings {
  std::string cpu;    ///< model name
  unsigned cpus = 0;  ///< that this process may use
  std::string kernel;
  double load = 0;        ///< load average over the last minute, at the start
  std::string commit;     ///< of the source tree that the tool was built in; empty if unknown
  bool modified = false;  ///< that tree has uncommitted changes
};

surroundings look_around();

/// All results of one workload.
struct comparison {
  workload what;
  std::vector<series> results;
};

struct report {
  surroundings around;
  std::string size;  ///< "full", "quick" or "smoke"
  int rounds = 0;
  std::int64_t grain = 0;
  std::vector<series> limits;  ///< of the machine; figures in the units of `limit_units`
  std::vector<workload> limit_workloads;
  std::vector<comparison> comparisons;
  std::vector<comparison> schedulers;  ///< creek's own settings side by side
  std::vector<missing_peer> missing;
};

/// The contestant that ratios are taken to: creek if it is there, else the first.
const series* base_of(const std::vector<series>& results, unsigned workers);
/// The one called `label` with that many workers (serial code: with one), or null.
const series* find_series(const std::vector<series>& results, const std::string& label,
                          unsigned workers);
/// How many times the figure of `base` fits into that of `s`.
double ratio(const series& s, const series& base);
/// The limit of that name, of that many workers if it is one of all; null if it was not measured.
const series* find_limit(const report& r, const std::string& name, unsigned workers);
/// The fastest contestant other than the base and serial code; null if there is none.
const series* best_peer(const std::vector<series>& results, unsigned workers);
/// The numbers of workers in the results, ascending; serial code left out where others are there.
std::vector<unsigned> workers_of(const std::vector<series>& results);
/// Labels in the order of their first appearance.
std::vector<std::string> labels_of(const std::vector<comparison>& comparisons);

/// Three or four significant digits, never an exponent.
std::string short_number(double value);

void print_report(const report& r, std::FILE* to);
std::string to_json(const report& r);
/// One chart a workload and one of all ratios, as files in `folder` (made if missing). Throws
/// creek::error.
void write_charts(const report& r, const std::string& folder);

}  // namespace creek::tool::bench

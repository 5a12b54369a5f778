// SPDX-License-Identifier: Apache-2.0
// Output of a benchmark run: a table for people, JSON for programs, charts for pages.
#pragma once
#include <cstdio>
#include <string>
#include <vector>

#include "comparison.hpp"
#include "json/json_value.hpp"

namespace creek::tool::bench {

/// The machine and the source that figures belong to.
struct surroundings {
  std::string cpu;    ///< model name
  unsigned cpus = 0;  ///< number that this process may use
  std::string kernel;
  double load = 0;        ///< load average over the last minute, at the start
  std::string commit;     ///< commit of the source tree the tool was built in; empty if unknown
  bool modified = false;  ///< the source tree has uncommitted changes
};

surroundings look_around();
json_value describe(const surroundings& a);

/// All results of one workload at one size.
struct comparison {
  workload what;
  std::int64_t n = 0;
  std::vector<series> results;
};

struct report {
  surroundings around;
  std::string command;  ///< the subcommand of `creek bench`: "tasking"
  std::string size;     ///< "full", "quick" or "smoke"
  int rounds = 0;
  std::int64_t grain = 0;
  std::vector<series> limits;  ///< limits of the machine; figures in the units of `limit_workloads`
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
const series* best_peer(const comparison& c, unsigned workers);
/// How many times faster `base` is than `s`, whether figures are times or rates.
double advantage(const workload& w, const series& base, const series& s);
/// The best rate that any contestant reached at `name` with that many workers, at any size; null if
/// there is none.
const series* best_rate(const report& r, const std::string& name, unsigned workers);
/// A figure of `c` as a share of the best rate of the workload that it is held against; 0 without.
double share(const report& r, const comparison& c, const series& s);
/// The comparisons of each workload, one a size, in their order.
std::vector<std::vector<comparison>> by_workload(const std::vector<comparison>& all);
/// The numbers of workers in the results, ascending; serial code left out where others are there.
std::vector<unsigned> workers_of(const std::vector<series>& results);
/// Labels in the order of their first appearance.
std::vector<std::string> labels_of(const std::vector<comparison>& comparisons);

/// Three or four significant digits, never an exponent.
std::string short_number(double value);

void print_report(const report& r, std::FILE* to);
/// Workloads whose figures are rates: a table a workload, a column a size.
void print_rates(const report& r, std::FILE* to);
std::string to_json(const report& r);
/// One chart a workload and one of all ratios, as files in `folder` (made if missing). Throws
/// creek::error.
void write_charts(const report& r, const std::string& folder);

}  // namespace creek::tool::bench

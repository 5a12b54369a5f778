// SPDX-License-Identifier: Apache-2.0
// Output of a benchmark run: a table for people, JSON for programs, charts for pages.
#pragma once
#include <cstdio>
#include <string>
#include <vector>

#include "comparison.hpp"
#include "json/json_value.hpp"

namespace creek::tool::bench {

/// The machine and the source tree that figures belong to.
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

/// Returns the contestant that ratios are relative to: creek if it took part, else the first.
const series* base_of(const std::vector<series>& results, unsigned workers);
/// Returns the series of `label` with that many workers (serial code: one), or nullptr.
const series* find_series(const std::vector<series>& results, const std::string& label,
                          unsigned workers);
/// Returns the figure of `s` divided by that of `base`.
double ratio(const series& s, const series& base);
/// Returns the limit called `name`, at `workers` if it depends on them; nullptr if not measured.
const series* find_limit(const report& r, const std::string& name, unsigned workers);
/// Returns the fastest contestant other than the base and serial code, or nullptr.
const series* best_peer(const comparison& c, unsigned workers);
/// Returns how many times faster `base` is than `s`, whether figures are times or rates.
double advantage(const workload& w, const series& base, const series& s);
/// Returns the best call of all runs, of a workload of calls.
double best_call(const workload& w, const series& s);
/// Returns the median of the first calls of all runs, of a workload of calls.
double first_call(const series& s);
/// Returns the best rate that any contestant reached at `name` with that many workers, at any size,
/// or nullptr if there is none.
const series* best_rate(const report& r, const std::string& name, unsigned workers);
/// Returns a figure of `c` as a share of the best rate of the workload in `share_of`, or 0.
double share(const report& r, const comparison& c, const series& s);
/// Returns the comparisons of each workload, one per size, in their order.
std::vector<std::vector<comparison>> by_workload(const std::vector<comparison>& all);
/// Returns the worker counts of the results, ascending, without serial code unless it is alone.
std::vector<unsigned> workers_of(const std::vector<series>& results);
/// Returns the labels in the order of their first appearance.
std::vector<std::string> labels_of(const std::vector<comparison>& comparisons);

/// Formats a number with three or four significant digits, never with an exponent.
std::string short_number(double value);

void print_report(const report& r, std::FILE* to);
/// Prints the workloads whose figures are rates: a table per workload, a column per size.
void print_rates(const report& r, std::FILE* to);
/// Prints the workloads of calls: tables of the median, the best and the first call, a row per
/// workload and size.
void print_calls(const report& r, std::FILE* to);
std::string to_json(const report& r);
/// Writes one chart per workload and one of all ratios, as files in `folder` (made if missing).
/// Throws creek::error.
void write_charts(const report& r, const std::string& folder);

}  // namespace creek::tool::bench

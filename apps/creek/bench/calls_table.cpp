// SPDX-License-Identifier: Apache-2.0
// The tables of workloads of calls, such as those of LAPACK: a row per workload and size, a column
// per library, once for the median of the calls, the best and the first call of a process.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report.hpp"

namespace creek::tool::bench {
namespace {

struct call_table {
  const char* title;
  double (*figure)(const workload&, const series&);
};

constexpr call_table tables[] = {
    {"median of the calls after the first",
     [](const workload&, const series& s) { return s.median(); }},
    {"best call", best_call},
    {"first call of a process", [](const workload&, const series& s) { return first_call(s); }},
};

std::vector<comparison> calls_of(const report& r) {
  std::vector<comparison> calls;
  for (const auto& c : r.comparisons) {
    if (c.what.calls) calls.push_back(c);
  }
  return calls;
}

std::size_t width_of(const std::string& label) {
  return std::max<std::size_t>(label.size() + 2, 9);
}

/// Returns how many times creek is faster than the fastest other library, and that library.
std::string against_best(const comparison& c, unsigned workers, const call_table& table) {
  const series* creek = find_series(c.results, "creek", workers);
  if (creek == nullptr || !creek->ok()) return "-";
  const auto times_of = [&](const series& s) {
    const double own = table.figure(c.what, *creek), other = table.figure(c.what, s);
    return c.what.rate ? own / other : other / own;
  };
  const series* best = nullptr;
  for (const auto& s : c.results) {
    if (&s == creek || s.workers != workers || !s.ok()) continue;
    if (best == nullptr || times_of(s) < times_of(*best)) best = &s;
  }
  return best == nullptr ? "-" : fmt::format("{}x {}", short_number(times_of(*best)), best->label);
}

void print_row(const comparison& c, unsigned workers, const std::vector<std::string>& labels,
               const call_table& table, std::FILE* to) {
  fmt::print(to, "{:<14}{:>6}  {:<8}", c.what.name, c.n, c.what.unit);
  for (const auto& label : labels) {
    const series* s = find_series(c.results, label, workers);
    const std::string text = s == nullptr ? "-"
                             : s->ok()    ? short_number(table.figure(c.what, *s))
                                          : "failed";
    fmt::print(to, "{:>{}}", text, width_of(label));
  }
  fmt::print(to, "   {}\n", against_best(c, workers, table));
}

void print_table(const std::vector<comparison>& calls, unsigned workers, const call_table& table,
                 std::FILE* to) {
  const auto labels = labels_of(calls);
  fmt::print(to, "\n{}, {} worker{}\n{:<14}{:>6}  {:<8}", table.title, workers,
             workers == 1 ? "" : "s", "", "n", "unit");
  for (const auto& label : labels) fmt::print(to, "{:>{}}", label, width_of(label));
  fmt::print(to, "   creek / best other\n");
  for (const auto& c : calls) print_row(c, workers, labels, table, to);
}

}  // namespace

void print_calls(const report& r, std::FILE* to) {
  const auto calls = calls_of(r);
  std::set<unsigned> all_workers;
  for (const auto& c : calls) {
    for (const unsigned workers : workers_of(c.results)) all_workers.insert(workers);
  }
  for (const unsigned workers : all_workers) {
    for (const auto& table : tables) print_table(calls, workers, table, to);
  }
  if (!calls.empty())
    fmt::print(to, "\n2x mkl: creek is twice as fast as mkl, the fastest other.\n");
  for (const auto& sizes : by_workload(calls)) {
    fmt::print(to, "{}: {}\n", sizes.front().what.name, sizes.front().what.about);
  }
}

}  // namespace creek::tool::bench

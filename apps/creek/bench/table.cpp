// SPDX-License-Identifier: Apache-2.0
// Tables for people. A cell is a median and, in brackets, its ratio to creek's median.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report.hpp"

namespace creek::tool::bench {
namespace {

void print_around(const report& r, std::FILE* to) {
  const auto& a = r.around;
  fmt::print(to, "{}, {} processors, {}", a.cpu, a.cpus, a.kernel);
  if (!a.commit.empty()) {
    fmt::print(to, ", source {}{}", a.commit.substr(0, 12), a.modified ? " modified" : "");
  }
  fmt::print(to,
             "\nsizes {}, medians of {} rounds, the peers taking turns; load at the start {:.1f}\n",
             r.size, r.rounds, a.load);
  if (a.load > 0.5 * a.cpus) {
    fmt::print(
        to, "The machine was busy with other things: figures will be worse than they could be.\n");
  }
}

void print_limits(const report& r, std::FILE* to) {
  if (r.limits.empty()) return;
  fmt::print(to, "\nLimits of this machine\n");
  for (std::size_t i = 0; i < r.limits.size(); ++i) {
    const series& s = r.limits[i];
    const workload& w = r.limit_workloads[i];
    const std::string name =
        fmt::format("{} ({} worker{})", w.name, s.workers, s.workers == 1 ? "" : "s");
    if (s.ok()) {
      fmt::print(to, "  {:<26}{:>9} {:<5} +-{:>2.0f} %  {}\n", name, short_number(s.median()),
                 w.unit, 100 * s.spread(), w.about);
    } else {
      fmt::print(to, "  {:<26} not measured: {}\n", name, s.failure);
    }
  }
}

std::string cell(const series* s, const series* base) {
  if (s == nullptr) return "-";
  if (!s->ok()) return s->unmeasurable ? "n/a" : "failed";
  if (s == base || base == nullptr) return short_number(s->median());
  const double times = base->median() > 0 ? ratio(*s, *base) : 0;
  return times > 0 ? fmt::format("{} ({}x)", short_number(s->median()), short_number(times))
                   : short_number(s->median());
}

void print_row(const comparison& c, unsigned workers, const std::vector<std::string>& labels,
               std::FILE* to) {
  const series* base = base_of(c.results, workers);
  fmt::print(to, "{:<18}{:>3}  {:<12}", c.what.name, workers, c.what.unit);
  for (const auto& label : labels) {
    const series* s = find_series(c.results, label, workers);
    std::string text = cell(s, base);
    if (s == base && s != nullptr && s->ok()) text += fmt::format(" +-{:.0f}%", 100 * s->spread());
    fmt::print(to, "{:>16}", text);
  }
  const series* best = best_peer(c, workers);
  if (base != nullptr && best != nullptr && base->median() > 0) {
    fmt::print(to, "{:>8}x {}", short_number(advantage(c.what, *base, *best)), best->label);
  }
  fmt::print(to, "\n");
}

/// Returns the comparisons whose figures are times, or amounts of work in a time.
std::vector<comparison> times_of(const report& r) {
  std::vector<comparison> times;
  for (const auto& c : r.comparisons) {
    if (!c.what.rate && !c.what.calls) times.push_back(c);
  }
  return times;
}

void print_comparisons(const report& r, std::FILE* to) {
  const auto times = times_of(r);
  if (times.empty()) return;
  const auto labels = labels_of(times);
  fmt::print(to, "\n{:<18}{:>3}  {:<12}", "workload", "w", "unit");
  for (const auto& label : labels) fmt::print(to, "{:>16}", label);
  fmt::print(to, "   best other\n");
  for (const auto& c : times) {
    for (const unsigned workers : workers_of(c.results)) print_row(c, workers, labels, to);
  }
  fmt::print(to, "w: workers (serial code: always one). (3x): three times {}'s median.\n",
             labels.empty() ? "the first" : labels.front());
}

/// Prints creek, or its substitute, compared with the limits of the machine.
void print_bounds(const report& r, std::FILE* to) {
  for (const auto& c : times_of(r)) {
    for (const unsigned workers : workers_of(c.results)) {
      const series* base = base_of(c.results, workers);
      for (const auto& bound : c.what.bounds) {
        const series* limit = find_limit(r, bound, workers);
        if (base == nullptr || limit == nullptr || limit->median() <= 0) continue;
        fmt::print(to, "{:<18}{:>3}  {} {}: {} times {}\n", c.what.name, workers, base->label,
                   short_number(base->median()), short_number(ratio(*base, *limit)), bound);
      }
    }
  }
}

/// Prints a table with rows "scheduler/deque" and a column per number of workers.
void print_schedulers(const report& r, std::FILE* to) {
  for (const auto& c : r.schedulers) {
    const auto workers = workers_of(c.results);
    fmt::print(to, "\nScheduler comparison: {}, {}\n{:<26}", c.what.about, c.what.unit, "");
    for (const unsigned w : workers) fmt::print(to, "{:>12} w", w);
    fmt::print(to, "\n");
    for (const auto& label : labels_of({c})) {
      fmt::print(to, "{:<26}", label);
      for (const unsigned w : workers) {
        fmt::print(to, "{:>14}", cell(find_series(c.results, label, w), nullptr));
      }
      fmt::print(to, "\n");
    }
  }
}

/// Prints the version of each contestant, in the order of the table.
void print_versions(const report& r, std::FILE* to) {
  std::vector<std::string> seen;
  for (const auto& c : r.comparisons) {
    for (const auto& s : c.results) {
      if (s.version.empty() || std::find(seen.begin(), seen.end(), s.label) != seen.end()) continue;
      fmt::print(to, "{}version: {}: {}\n", seen.empty() ? "\n" : "", s.label, s.version);
      seen.push_back(s.label);
    }
  }
}

void print_failures(const std::vector<comparison>& all, std::FILE* to) {
  for (const auto& c : all) {
    for (const auto& s : c.results) {
      if (!s.failure.empty()) {
        fmt::print(to, "{}: {}, n = {}, {}, workers {}: {}\n", s.unmeasurable ? "n/a" : "failed",
                   c.what.name, s.n, s.label, s.workers, s.failure);
      }
    }
  }
}

}  // namespace

void print_report(const report& r, std::FILE* to) {
  print_around(r, to);
  print_limits(r, to);
  print_comparisons(r, to);
  print_bounds(r, to);
  print_rates(r, to);
  print_calls(r, to);
  print_schedulers(r, to);
  print_versions(r, to);
  if (!r.missing.empty()) fmt::print(to, "\n");
  for (const auto& m : r.missing) fmt::print(to, "missing: {}: {}\n", m.name, m.how);
  print_failures(r.comparisons, to);
  print_failures(r.schedulers, to);
}

}  // namespace creek::tool::bench

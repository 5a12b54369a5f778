// SPDX-License-Identifier: Apache-2.0
// The tables of workloads whose figures are rates, such as GFLOP/s: for each workload and number of
// workers a row per peer and a column per size, so that the many linear algebra libraries fit.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "report.hpp"

namespace creek::tool::bench {
namespace {

constexpr int width = 20;

using sizes_of_one = std::vector<comparison>;
/// Returns the text of a row's cell for one size.
using cell_of = std::function<std::string(const comparison&)>;

void print_row(const std::string& name, const sizes_of_one& sizes, const cell_of& cell,
               std::FILE* to) {
  fmt::print(to, "  {:<24}", name);
  for (const auto& c : sizes) fmt::print(to, "{:>{}}", cell(c), width);
  fmt::print(to, "\n");
}

std::string percent(double part) {
  return part > 0 ? fmt::format("{:.0f} %", 100 * part) : "-";
}

std::string figure(const report& r, const comparison& c, const series* s) {
  if (s == nullptr) return "-";
  if (!s->ok()) return s->unmeasurable ? "n/a" : "failed";
  const double part = share(r, c, *s);
  return part > 0 ? fmt::format("{} ({})", short_number(s->median()), percent(part))
                  : short_number(s->median());
}

/// Returns creek if it took part, else the fastest series.
const series* leader(const comparison& c, unsigned workers) {
  const series* base = base_of(c.results, workers);
  const series* best = best_peer(c, workers);
  const bool behind = base != nullptr && base->label != "creek" && best != nullptr &&
                      advantage(c.what, *best, *base) > 1;
  return behind ? best : base;
}

bool has_creek(const comparison& c, unsigned workers) {
  const series* base = base_of(c.results, workers);
  return base != nullptr && base->label == "creek";
}

std::string against_best(const comparison& c, unsigned workers) {
  const series* best = best_peer(c, workers);
  if (best == nullptr || !has_creek(c, workers)) return "-";
  return fmt::format("{}x {}", short_number(advantage(c.what, *leader(c, workers), *best)),
                     best->label);
}

void print_conclusions(const report& r, const sizes_of_one& sizes, unsigned workers,
                       std::FILE* to) {
  const auto creek = [&](const comparison& c) { return has_creek(c, workers); };
  const bool any = std::any_of(sizes.begin(), sizes.end(), creek);
  if (any) {
    const auto cell = [&](const comparison& c) { return against_best(c, workers); };
    print_row("creek / best other", sizes, cell, to);
  }
  for (const auto& bound : sizes.front().what.bounds) {
    const series* limit = find_limit(r, bound, workers);
    if (limit == nullptr || limit->median() <= 0) continue;
    const auto cell = [&](const comparison& c) -> std::string {
      const series* s = leader(c, workers);
      return s == nullptr ? "-" : percent(ratio(*s, *limit));
    };
    print_row((any ? "creek / " : "best / ") + bound, sizes, cell, to);
  }
}

void print_workload(const report& r, const sizes_of_one& sizes, unsigned workers, std::FILE* to) {
  const workload& w = sizes.front().what;
  fmt::print(to, "\n{}: {}, {}, {} worker{}\n", w.name, w.about, w.unit, workers,
             workers == 1 ? "" : "s");
  print_row(
      "n", sizes, [](const comparison& c) { return std::to_string(c.n); }, to);
  for (const auto& label : labels_of(sizes)) {
    const auto cell = [&](const comparison& c) {
      return figure(r, c, find_series(c.results, label, workers));
    };
    print_row(label, sizes, cell, to);
  }
  print_conclusions(r, sizes, workers, to);
}

}  // namespace

void print_rates(const report& r, std::FILE* to) {
  bool shares = false;
  for (const auto& sizes : by_workload(r.comparisons)) {
    if (!sizes.front().what.rate || sizes.front().what.calls) continue;
    for (const unsigned workers : workers_of(sizes.front().results)) {
      print_workload(r, sizes, workers, to);
      const std::string& whole = sizes.front().what.share_of;
      shares = shares || best_rate(r, whole, workers) != nullptr;
    }
  }
  if (shares) {
    fmt::print(
        to, "\n(74 %): of the best rate of dgemm that any of them reached with as many workers.\n");
  }
}

}  // namespace creek::tool::bench

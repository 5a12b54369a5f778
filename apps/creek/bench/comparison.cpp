// SPDX-License-Identifier: Apache-2.0
#include "comparison.hpp"

#include <algorithm>
#include <cmath>

#include <support/median.hpp>

namespace creek::tool::bench {
namespace {

std::vector<double> sorted(std::vector<double> figures) {
  std::sort(figures.begin(), figures.end());
  return figures;
}

/// A series and the contestant that runs it.
struct entrant {
  const contestant* who;
  series result;
};

std::vector<entrant> entrants(const workload& w, const std::vector<contestant>& contestants,
                              std::int64_t n, unsigned workers, bool first) {
  std::vector<entrant> entered;
  for (const auto& c : contestants) {
    const bool serial = c.program.name == "serial";
    if (!c.program.has(w.name) || (serial && !first)) continue;
    entered.push_back({&c,
                       {.label = c.label,
                        .version = c.program.version,
                        .workload = w.name,
                        .workers = serial ? 1 : workers,
                        .n = n}});
  }
  return entered;
}

void run_once(const workload& w, entrant& e, const plan& how) {
  const measurement got = measure(e.who->program,
                                  {.workload = w.name,
                                   .n = e.result.n,
                                   .workers = e.result.workers,
                                   .grain = how.grain,
                                   .warmup = w.warmup,
                                   .extra = e.who->options},
                                  how.limit);
  e.result.failure = got.failure;
  e.result.unmeasurable = got.unmeasurable;
  if (!got.failure.empty()) return;
  if (!e.result.answer.empty() && got.answer != e.result.answer) {
    e.result.failure = "answers differ from run to run";
    return;
  }
  e.result.answer = got.answer;
  e.result.work = got.work;
  e.result.figures.push_back(w.figure(got.total_ns, got.work));
  if (!w.calls) return;
  e.result.best_calls.push_back(w.figure(got.best_ns, got.work));
  e.result.first_calls.push_back(w.figure(got.first_ns, got.work));
}

void check_answers(std::vector<series>& all) {
  const auto right = std::find_if(all.begin(), all.end(), [](const series& s) { return s.ok(); });
  if (right == all.end()) return;
  const auto serial = std::find_if(all.begin(), all.end(),
                                   [](const series& s) { return s.ok() && s.label == "serial"; });
  const std::string expected = serial == all.end() ? right->answer : serial->answer;
  for (auto& s : all) {
    if (s.ok() && s.answer != expected) {
      s.failure = "wrong answer " + s.answer + " instead of " + expected;
    }
  }
}

}  // namespace

double series::median() const {
  return ::bench::median(figures);
}
double series::min() const {
  return *std::min_element(figures.begin(), figures.end());
}
double series::max() const {
  return *std::max_element(figures.begin(), figures.end());
}

double series::spread() const {
  const double middle = median();
  if (middle == 0) return 0;
  const std::vector<double> ordered = sorted(figures);
  return (::bench::quantile(ordered, 0.75) - ::bench::quantile(ordered, 0.25)) / 2 / middle;
}

const std::vector<std::int64_t>& sizes_of(const workload& w, const plan& how) {
  return how.sizes.empty() || w.limit ? w.sizes(how.size) : how.sizes;
}

std::vector<series> compare(const workload& w, std::int64_t n,
                            const std::vector<contestant>& contestants, const plan& how) {
  const std::string name =
      sizes_of(w, how).size() > 1 ? w.name + ", n = " + std::to_string(n) : w.name;
  std::vector<series> all;
  bool first = true;
  for (const unsigned workers : how.workers) {
    if (workers < w.min_workers) continue;
    auto entered = entrants(w, contestants, n, workers, first);
    first = false;
    for (int round = 0; round < how.rounds; ++round) {
      for (auto& e : entered) {
        if (!e.result.failure.empty()) continue;
        how.progress(name + ", workers " + std::to_string(workers) + ", round " +
                     std::to_string(round + 1) + "/" + std::to_string(how.rounds) + ": " +
                     e.result.label);
        run_once(w, e, how);
      }
    }
    for (auto& e : entered) all.push_back(std::move(e.result));
  }
  check_answers(all);
  return all;
}

std::int64_t calibrate_grain(const catalogue& found, const plan& how) {
  const auto step = found.workloads.find("busy_step");
  if (!found.machine || step == found.workloads.end() || how.size == size_class::smoke) return 0;
  const workload& w = step->second;
  // Takes the fastest of a few runs: a disturbed run would make every task too short.
  double step_ns = 0;
  for (int i = 0; i < 5; ++i) {
    const measurement got =
        measure(*found.machine, {.workload = w.name, .n = w.sizes(how.size).front(), .extra = {}},
                how.limit);
    if (!got.failure.empty()) return 0;
    const double ns = w.figure(got.total_ns, got.work);
    if (step_ns == 0 || ns < step_ns) step_ns = ns;
  }
  return std::max<std::int64_t>(1, std::llround(1000 / step_ns));
}

}  // namespace creek::tool::bench

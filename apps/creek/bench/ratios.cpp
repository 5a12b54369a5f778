// SPDX-License-Identifier: Apache-2.0
// Chooses the series that are compared with each other.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include <support/median.hpp>

#include "report.hpp"

namespace creek::tool::bench {

const series* find_series(const std::vector<series>& results, const std::string& label,
                          unsigned workers) {
  const unsigned wanted = label == "serial" ? 1 : workers;
  for (const auto& s : results) {
    if (s.label == label && s.workers == wanted) return &s;
  }
  return nullptr;
}

const series* base_of(const std::vector<series>& results, unsigned workers) {
  const series* creek = find_series(results, "creek", workers);
  if (creek != nullptr && creek->ok()) return creek;
  for (const auto& s : results) {
    if (s.workers == workers && s.ok()) return &s;
  }
  return nullptr;
}

double ratio(const series& s, const series& base) {
  return s.median() / base.median();
}

const series* find_limit(const report& r, const std::string& name, unsigned workers) {
  const series* found = nullptr;
  for (std::size_t i = 0; i < r.limits.size(); ++i) {
    const series& s = r.limits[i];
    const bool fits = !r.limit_workloads[i].all_workers || s.workers == workers;
    if (s.workload == name && s.ok() && fits) found = &s;
  }
  return found;
}

const series* best_peer(const comparison& c, unsigned workers) {
  const series* base = base_of(c.results, workers);
  const series* best = nullptr;
  for (const auto& s : c.results) {
    if (&s == base || s.label == "serial" || s.workers != workers || !s.ok()) continue;
    if (best == nullptr || advantage(c.what, s, *best) > 1) best = &s;
  }
  return best;
}

double advantage(const workload& w, const series& base, const series& s) {
  return w.rate ? ratio(base, s) : ratio(s, base);
}

double best_call(const workload& w, const series& s) {
  const auto& calls = s.best_calls;
  return w.rate ? *std::max_element(calls.begin(), calls.end())
                : *std::min_element(calls.begin(), calls.end());
}

double first_call(const series& s) {
  return ::bench::median(s.first_calls);
}

const series* best_rate(const report& r, const std::string& name, unsigned workers) {
  const series* best = nullptr;
  for (const auto& c : r.comparisons) {
    if (c.what.name != name || !c.what.rate) continue;
    for (const auto& s : c.results) {
      if (s.workers != workers || !s.ok()) continue;
      if (best == nullptr || s.median() > best->median()) best = &s;
    }
  }
  return best;
}

double share(const report& r, const comparison& c, const series& s) {
  const series* whole = best_rate(r, c.what.share_of, s.workers);
  return whole == nullptr || !s.ok() ? 0 : ratio(s, *whole);
}

std::vector<std::vector<comparison>> by_workload(const std::vector<comparison>& all) {
  std::vector<std::vector<comparison>> workloads;
  for (const auto& c : all) {
    if (workloads.empty() || workloads.back().front().what.name != c.what.name) {
      workloads.emplace_back();
    }
    workloads.back().push_back(c);
  }
  return workloads;
}

std::vector<unsigned> workers_of(const std::vector<series>& results) {
  std::set<unsigned> all;
  for (const auto& s : results) {
    if (s.label != "serial") all.insert(s.workers);
  }
  if (all.empty() && !results.empty()) all.insert(1);
  return {all.begin(), all.end()};
}

std::vector<std::string> labels_of(const std::vector<comparison>& comparisons) {
  std::vector<std::string> labels;
  for (const auto& c : comparisons) {
    for (const auto& s : c.results) {
      if (std::find(labels.begin(), labels.end(), s.label) == labels.end()) {
        labels.push_back(s.label);
      }
    }
  }
  return labels;
}

std::string short_number(double value) {
  const double size = std::fabs(value);
  if (size == 0) return "0";
  if (size < 0.1) return fmt::format("{:.3f}", value);
  if (size < 10) return fmt::format("{:.2f}", value);
  if (size < 100) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

}  // namespace creek::tool::bench

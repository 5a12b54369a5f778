// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <creek/core/io/atomic_file.hpp>
#include <map>

#include "activity_classes.hpp"
#include "report.hpp"

namespace creek::tool::compare {
namespace {

/// Formats a number with four significant digits.
std::string number(double value) {
  return std::abs(value) >= 1e4 || value == 0 ? fmt::format("{:.0f}", value)
                                              : fmt::format("{:#.4g}", value);
}

/// Formats a share in percent, without decimals from 1000 % on.
std::string percent(double share) {
  return fmt::format("{:+.{}f}", 100 * share, std::abs(share) < 10 ? 2 : 0);
}

std::string difference_text(const difference& of) {
  std::string text = fmt::format("{:>10}", percent(of.estimate) + " %");
  if (!of.range) return text;
  const std::string range =
      fmt::format("{} .. {} %", percent(of.range->low), percent(of.range->high));
  return text + fmt::format("  {:>22}{}", range, of.range->excludes_zero() ? " *" : "");
}

std::size_t widest_name(const study& of) {
  std::size_t width = 8;
  for (const policy_runs& each : of.policies) width = std::max(width, each.policy.size());
  return width;
}

/// Prints one metric, so that simulated and measured figures never share a column.
void print_metric(metric what, const study& of) {
  const std::size_t width = widest_name(of);
  const bool has_interval = of.policies.front().runs.size() >= least_pairs;
  const std::string head = of.facts.simulated ? fmt::format("{:>12}", "exact")
                                              : fmt::format("{:>12}{:>9}", "median", "spread");
  fmt::print("\n{}\n  {:<{}}{}{:>10}{}\n", title_of(what, of), "policy", width, head,
             of.policies.size() > 1 ? "against" : "",
             of.policies.size() > 1 && has_interval ? fmt::format("  {:>22}", "95 % interval")
                                                    : std::string());
  for (std::size_t i = 0; i < of.policies.size(); ++i) {
    const policy_runs& each = of.policies[i];
    const std::vector<double> values = values_of(what, each);
    if (values.empty()) {
      fmt::print("  {:<{}}{:>12}\n", each.policy, width, "no figure");
      continue;
    }
    const summary found = summary_of(values);
    std::string line = fmt::format("{:>12}", number(found.median));
    if (!of.facts.simulated) line += fmt::format("{:>7.2f} %", 100 * found.spread);
    if (const auto than = difference_of(what, of, i)) line += difference_text(*than);
    fmt::print("  {:<{}}{}\n", each.policy, width, line);
  }
}

void print_activity(const study& of) {
  const std::vector<activity_class> classes = activity_classes(of.facts.workers);
  if (mean_activity(of.policies.front()).empty()) return;
  const std::size_t width = widest_name(of);
  fmt::print("\nworkers in tasks, share of the time\n  {:<{}}", "policy", width);
  for (const activity_class& each : classes) fmt::print("{:>9}", each.label);
  fmt::print("{:>9}\n", "mean");
  for (const policy_runs& each : of.policies) {
    const std::vector<double> shares = mean_activity(each);
    fmt::print("  {:<{}}", each.policy, width);
    for (const activity_class& one : classes) fmt::print("{:>7.1f} %", 100 * share_of(one, shares));
    fmt::print("{:>9.2f}\n", mean_workers(shares));
  }
}

/// Returns the rounds, each as indices of the policies in the order in which they ran.
std::string order_text(const study& of) {
  std::vector<std::string> rounds;
  for (const auto& round : of.order) {
    std::vector<std::size_t> places;
    for (const std::size_t place : round) places.push_back(place + 1);
    rounds.push_back(fmt::format("{}", fmt::join(places, of.policies.size() > 9 ? "," : "")));
  }
  return fmt::format("{}", fmt::join(rounds, " "));
}

void print_head(const setup& given, const study& of) {
  fmt::print("{}\n{}; {}\n", of.about, of.facts.machine,
             of.facts.simulated ? std::string("simulated, exact: one run per policy, no intervals")
                                : fmt::format("{} runs per policy, order by seed {}: {}",
                                              given.runs, given.seed, order_text(of)));
  if (!of.facts.simulated && of.policies.front().runs.size() < least_pairs) {
    fmt::print("no intervals: they need {} runs\n", least_pairs);
  }
}

/// Prints, once, the notes that a reader needs to understand the figures.
void print_notes(const study& of) {
  const std::string why = why_no_energy(of);
  if (!why.empty()) fmt::print("\nenergy: unavailable: {}\n", why);
  std::map<std::string, std::vector<std::string>> without_control;
  for (const policy_runs& each : of.policies) {
    const std::string& control = each.runs.front().control;
    if (!control.empty()) without_control[control].push_back(each.policy);
  }
  for (const auto& [reason, policies] : without_control) {
    fmt::print("\nwithout control of clocks: {}: {}\n", fmt::join(policies, ", "), reason);
  }
}

}  // namespace

void print_text(const setup& given, const std::vector<study>& studies) {
  const char* before = "";
  for (const study& of : studies) {
    fmt::print("{}", before);
    before = "\n";
    print_head(given, of);
    const bool has_energy = why_no_energy(of).empty();
    for (const metric what : metrics) {
      if (has_energy || !facts_of(what).of_energy) print_metric(what, of);
    }
    print_activity(of);
    print_notes(of);
  }
}

std::string why_no_energy(const study& of) {
  for (const policy_runs& each : of.policies) {
    for (const measured_run& run : each.runs) {
      if (!run.joules) return run.reason;
    }
  }
  return {};
}

std::string energy_source(const study& of) {
  const measured_run& first = of.policies.front().runs.front();
  if (!first.joules) return {};
  const auto origin = to_string(first.origin);
  return first.source.empty() ? std::string(origin) : fmt::format("{}, {}", origin, first.source);
}

std::string title_of(metric what, const study& of) {
  const metric_facts& facts = facts_of(what);
  const std::string title = of.facts.simulated ? facts.simulated_title : facts.title;
  return facts.of_energy ? fmt::format("{} ({})", title, energy_source(of)) : title;
}

void try_traces(const setup& given) {
  if (given.trace.empty()) return;
  for (const std::string& policy : given.policies) {
    // Leaves no file without commit().
    atomic_file{file_of_policy(given.trace, policy), atomic_file::targets::regular};
  }
}

}  // namespace creek::tool::compare

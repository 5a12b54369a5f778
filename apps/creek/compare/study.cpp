// SPDX-License-Identifier: Apache-2.0
#include "study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <support/zipf_text.hpp>

namespace creek::tool::compare {
namespace {

std::vector<std::size_t> draw_order(std::size_t policies, creek_bench::random_bits& source) {
  std::vector<std::size_t> order(policies);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = policies; i > 1; --i) std::swap(order[i - 1], order[source() % i]);
  return order;
}

measured_run run_right(runner& on, const study& of, const run_request& what) {
  measured_run got = on.run(what);
  if (got.wrong.empty()) return got;
  throw std::runtime_error(
      fmt::format("compare: n = {}, policy {}: {}", of.n, what.policy, got.wrong));
}

void run_rounds(const setup& given, runner& on, study& all, const progress& tell) {
  creek_bench::random_bits source(given.seed);
  const int rounds = all.facts.simulated ? 1 : given.runs;
  const int warmup = all.facts.simulated ? 0 : given.warmup;
  for (int round = -warmup; round < rounds; ++round) {
    const auto order = draw_order(all.policies.size(), source);
    for (const std::size_t place : order) {
      policy_runs& each = all.policies[place];
      tell(fmt::format("{} n = {}, {} {} of {}: {}", given.name, all.n,
                       round < 0 ? "warm-up" : "round", round < 0 ? round + warmup + 1 : round + 1,
                       round < 0 ? warmup : rounds, each.policy));
      measured_run got = run_right(on, all, {.policy = each.policy, .trace = {}});
      if (round >= 0) each.runs.push_back(std::move(got));
    }
    if (round >= 0) all.order.push_back(order);
  }
}

/// Runs each policy once more, with records that would have slowed down the other runs.
void run_traced(const setup& given, runner& on, study& all, const progress& tell) {
  const bool last = all.n == given.n.back();
  if (given.trace.empty() && given.plot.empty()) return;
  for (policy_runs& each : all.policies) {
    tell(fmt::format("{} n = {}, trace: {}", given.name, all.n, each.policy));
    const std::string file =
        last && !given.trace.empty() ? file_of_policy(given.trace, each.policy) : std::string();
    each.traced = run_right(on, all, {.policy = each.policy, .trace = file, .sampled = true});
  }
}

}  // namespace

const metric_facts& facts_of(metric what) noexcept {
  using run = const measured_run&;
  using figure = std::optional<double>;
  static constexpr metric_facts all[] = {
      {[](run of) -> figure { return of.seconds; }, "seconds", "simulated_seconds", "time, s",
       "simulated time, s"},
      {[](run of) { return of.joules; }, "joules", "joules", "energy, J", "energy, J", true},
      {[](run of) { return of.joules ? figure(*of.joules * of.seconds) : std::nullopt; },
       "joule_seconds", "joule_seconds", "energy times time, Js", "energy times time, Js", true},
      {[](run of) -> figure { return of.cpu_seconds; }, "cpu_seconds", "awake_core_seconds",
       "CPU time, s, all workers", "time of cores not halted, simulated core seconds"},
      {[](run of) -> figure { return of.idle_cpu_seconds; }, "idle_cpu_seconds",
       "idle_awake_core_seconds", "idle CPU time, s: workers without a task",
       "... of it without a task"}};
  return all[static_cast<std::size_t>(what)];
}

std::vector<double> values_of(metric what, const policy_runs& of) {
  std::vector<double> values;
  for (const measured_run& run : of.runs) {
    const auto value = facts_of(what).value(run);
    if (!value) return {};
    values.push_back(*value);
  }
  return values;
}

std::optional<difference> difference_of(metric what, const study& all, std::size_t policy) {
  if (policy == 0) return std::nullopt;
  return relative_difference(values_of(what, all.policies[policy]),
                             values_of(what, all.policies[0]));
}

std::vector<double> mean_activity(const policy_runs& of) {
  std::vector<double> mean;
  for (const measured_run& run : of.runs) {
    if (run.activity.empty()) return {};
    mean.resize(std::max(mean.size(), run.activity.size()));
    for (std::size_t busy = 0; busy < run.activity.size(); ++busy) {
      mean[busy] += run.activity[busy] / static_cast<double>(of.runs.size());
    }
  }
  return mean;
}

study run_study(const setup& given, long long n, const progress& tell) {
  const std::unique_ptr<runner> on =
      given.backend == "scc" ? make_scc_runner(given, n) : make_host_runner(given, n);
  study all{.n = n, .about = on->about(), .facts = on->facts(), .policies = {}, .order = {}};
  for (const std::string& policy : given.policies) {
    all.policies.push_back({.policy = policy, .runs = {}, .traced = {}});
  }
  run_rounds(given, *on, all, tell);
  run_traced(given, *on, all, tell);
  return all;
}

}  // namespace creek::tool::compare

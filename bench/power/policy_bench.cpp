// SPDX-License-Identifier: Apache-2.0
// Costs and savings of a power policy compared with polling, on this machine: LU factorizations
// (time, and processor time outside of tasks), fork-join workloads (time), and a runtime without
// work. Runs alternate, so that other load on the machine affects both.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "../../support/median.hpp"
#include "factor_runs.hpp"
#include "harness/workload.hpp"
#include "policy_runtime.hpp"

namespace bench::power {
namespace {

struct request {
  std::vector<std::int64_t> sizes{2000, 4000, 8000};
  std::vector<std::string> policies{"blocking"};
  std::string baseline = "polling";
  unsigned workers = std::max(1U, std::thread::hardware_concurrency());
  int runs = 7;
  bool smoke = false;
};

std::vector<std::string> all_policies(const request& asked) {
  std::vector<std::string> all{asked.baseline};
  all.insert(all.end(), asked.policies.begin(), asked.policies.end());
  return all;
}

/// Returns the median of the ratios of consecutive runs.
double ratio(const std::vector<double>& of, const std::vector<double>& to) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < of.size(); ++i) ratios.push_back(of[i] / to[i]);
  return median(ratios);
}

void show_factorizations(const request& asked) {
  fmt::print("LU with partial pivoting, {} workers, {} alternating runs: medians\n", asked.workers,
             asked.runs);
  fmt::print("{:>6} {:16} {:>10} {:>8} {:>10} {:>12} {:>10}\n", "n", "policy", "seconds", "ratio",
             "CPU s", "idle CPU s", "idle falls");
  for (const std::int64_t n : asked.sizes) {
    std::map<std::string, std::vector<double>> wall, cpu, idle;
    for (int run = 0; run < asked.runs; ++run) {
      for (const auto& policy : all_policies(asked)) {
        const factor_run made = factor(policy, asked.workers, n);
        wall[policy].push_back(made.wall);
        cpu[policy].push_back(made.cpu);
        idle[policy].push_back(made.idle);
      }
    }
    for (const auto& policy : all_policies(asked)) {
      fmt::print("{:6} {:16} {:10.4f} {:8.4f} {:10.4f} {:12.5f} {:9.1f}%\n", n, policy,
                 median(wall[policy]), ratio(wall[policy], wall[asked.baseline]),
                 median(cpu[policy]), median(idle[policy]),
                 100 * (1 - median(idle[policy]) / median(idle[asked.baseline])));
      std::fflush(stdout);
    }
  }
}

sample run_once(const entry& workload, const std::string& policy, const request& asked) {
  policy_runtime on(policy, asked.workers);
  settings with;
  with.workers = asked.workers;
  with.n = workload.what.smoke.first();
  static_cast<void>(workload.run(with));
  if (!asked.smoke) with.n = workload.what.full.first();
  return workload.run(with);
}

void show_forks(const request& asked) {
  fmt::print("\nFork-join, a task a step, {} alternating runs: medians\n", asked.runs);
  fmt::print("{:10} {:16} {:>12} {:>8}\n", "workload", "policy", "unit time", "ratio");
  for (const entry& workload : table()) {
    std::map<std::string, std::vector<double>> times;
    std::uint64_t answer = 0;
    for (int run = 0; run < asked.runs; ++run) {
      for (const auto& policy : all_policies(asked)) {
        const sample got = run_once(workload, policy, asked);
        if (answer == 0) answer = got.answer;
        if (got.answer != answer) throw std::runtime_error("answers differ");
        times[policy].push_back(got.total_ns / got.work);
      }
    }
    for (const auto& policy : all_policies(asked)) {
      fmt::print("{:10} {:16} {:8.3f} {} {:8.4f}\n", workload.what.name, policy,
                 median(times[policy]), workload.what.unit,
                 ratio(times[policy], times[asked.baseline]));
      std::fflush(stdout);
    }
  }
}

/// Returns the idle share from 10 ms after the last task on.
double idle_share(const std::string& policy, const request& asked) {
  policy_runtime on(policy, asked.workers);
  on.get().run([] { creek::parallel_for(0, 1000, [](int) {}); });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const double cpu = on.cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(asked.smoke ? 20 : 1000));
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  return (on.cpu_seconds() - cpu) / wall.count();
}

void show_idle(const request& asked) {
  fmt::print("\nA runtime of {} workers without work: share of one core\n", asked.workers);
  for (const auto& policy : all_policies(asked)) {
    fmt::print("{:16} {:8.3f}%\n", policy, 100 * idle_share(policy, asked));
  }
}

int run(int argc, char** argv) {
  request asked;
  CLI::App app("What power policies cost and save beside a baseline, on this machine");
  app.add_option("--n", asked.sizes, "Sizes of the factorizations")->delimiter(',');
  app.add_option("--policy", asked.policies, "Policies to compare")->delimiter(',');
  app.add_option("--baseline", asked.baseline, "What they are compared with");
  app.add_option("--workers", asked.workers)->check(CLI::Range(1, 4096));
  app.add_option("--runs", asked.runs)->check(CLI::Range(1, 1000));
  app.add_flag("--smoke", asked.smoke, "Small sizes: answers are checked, times mean nothing");
  CLI11_PARSE(app, argc, argv);
  if (asked.smoke) asked.sizes = {200};
  show_factorizations(asked);
  show_forks(asked);
  show_idle(asked);
  return 0;
}

}  // namespace
}  // namespace bench::power

int main(int argc, char** argv) {
  try {
    return bench::power::run(argc, argv);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "bench_policies: %s\n", failure.what());
    return 1;
  }
}

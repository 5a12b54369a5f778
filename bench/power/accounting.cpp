// SPDX-License-Identifier: Apache-2.0
// Cost of accounting for tasks of 10 us. Goal: under 1 %. The ratio compares alternating runs with
// and without accounting, in one process; `event` is the cost of one event alone.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include <creek/core/measuring/clock.hpp>
#include <creek/power/accounting.hpp>
#include <creek/power/policies.hpp>
#include <creek/tasking/fork_join.hpp>
#include <creek/tasking/runtime.hpp>

#include "../../support/median.hpp"

namespace {

namespace power = creek::power;
using bench::median;

void event(benchmark::State& state) {
  power::accounting books(power::make_policy("blocking"));
  creek::no_clock_control clocks("none");
  books.begin({.workers = 1, .clocks = &clocks});
  for (auto _ : state) books.task_about_to_run(0, {.name = "gemm"});
  books.end();
}
BENCHMARK(event);

/// Does about 10 us of work on a core of 2.5 GHz: a fixed number of steps, not a fixed time, so
/// that other load on the core shows.
void compute(benchmark::State& state, int steps) {
  double x = static_cast<double>(state.iterations());
  for (int i = 0; i < steps; ++i) benchmark::DoNotOptimize(x = 0.5 * x + 1);
}

/// Returns the number of steps that take 10 us.
int steps_of_a_task(benchmark::State& state) {
  constexpr int many = 1 << 20;
  double best = 1;
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    compute(state, many);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    best = std::min(best, passed.count());
  }
  return static_cast<int>(10e-6 * many / best);
}

/// Returns the seconds of a batch of tasks run as in a worker's loop: the event, then the task.
/// With a null `policy` there are no events.
double batch(benchmark::State& state, creek::power_policy* policy, int steps) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 200; ++i) {
    if (policy != nullptr) policy->task_about_to_run(0, {.name = "gemm"});
    compute(state, steps);
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Sets `ratio`: the median over pairs of time with accounting / time with the policy alone.
void tasks_of_10_us(benchmark::State& state) {
  const auto plain = power::make_policy("blocking");
  power::accounting books(plain);
  creek::no_clock_control clocks("none");
  books.begin({.workers = 1, .clocks = &clocks});
  const int steps = steps_of_a_task(state);
  std::vector<double> ratios;
  for (auto _ : state) {
    const double without = batch(state, plain.get(), steps);
    const double with = batch(state, &books, steps);
    ratios.push_back(with / without);
  }
  books.end();
  state.counters["ratio"] = median(ratios);
}
BENCHMARK(tasks_of_10_us)->Iterations(301)->Unit(benchmark::kMillisecond);

/// Does the same on a runtime: a loop of tasks of 10 us on two workers.
double run_on(creek::runtime& workers, benchmark::State& state, int steps) {
  const auto start = std::chrono::steady_clock::now();
  workers.run([&] {
    for (int i = 0; i < 100; ++i) {
      creek::fork_join([&] { compute(state, steps); }, [&] { compute(state, steps); });
    }
  });
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void runtime_with_tasks_of_10_us(benchmark::State& state) {
  creek::scheduler_options plain, counted;
  plain.workers = counted.workers = 2;
  plain.policy = power::make_policy("blocking");
  counted.policy = std::make_shared<power::accounting>(power::make_policy("blocking"));
  creek::runtime without(plain), with(counted);
  const int steps = steps_of_a_task(state);
  std::vector<double> ratios;
  for (auto _ : state) {
    const double before = run_on(without, state, steps);
    ratios.push_back(run_on(with, state, steps) / before);
  }
  state.counters["ratio"] = median(ratios);
}
BENCHMARK(runtime_with_tasks_of_10_us)->Iterations(301)->Unit(benchmark::kMillisecond);

}  // namespace

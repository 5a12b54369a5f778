// SPDX-License-Identifier: Apache-2.0
// Two ranks on two processors, and the minimum cost of anything between them: one cache line there
// and one back, measured in the same run.
#pragma once

#include <benchmark/benchmark.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <creek/host/spmd.hpp>

#include "../../support/median.hpp"

namespace bench {

/// Keeps the calling thread on the `place`-th processor that the process may use.
inline void stay_on(int place) {
  cpu_set_t allowed, one;
  sched_getaffinity(0, sizeof allowed, &allowed);
  CPU_ZERO(&one);
  const int count = CPU_COUNT(&allowed);
  int seen = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed) && seen++ == place % count) CPU_SET(cpu, &one);
  }
  pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

/// Returns the ns per call of `f`: the median over parts, as one preemption spoils a mean.
template <class F>
double median_ns(int parts, int calls, F&& f) {
  std::vector<double> means;
  for (int part = 0; part < parts; ++part) {
    const auto start = std::chrono::steady_clock::now();
    for (int call = 0; call < calls; ++call) f();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    means.push_back(took.count() / calls);
  }
  return median(std::move(means));
}

inline constexpr int parts = 64;
inline constexpr int calls = 1000;

/// Calls `f(communicator)` equally often on both ranks and returns the time of rank 0.
template <class F>
double on_two_ranks(F f, const creek::spmd_options& options = {}) {
  double result = 0;
  creek::spmd(
      2,
      [&](creek::host_communicator& c) {
        stay_on(c.rank());
        c.barrier();
        const double ns = median_ns(parts, calls, [&] { f(c); });
        if (c.rank() == 0) result = ns;
      },
      options);
  return result;
}

/// Returns the time of a bare cache-line round trip between the two processors. Each benchmark
/// measures it just before its own run, because it varies with the load of the machine.
inline double line_round_trip_ns() {
  struct alignas(64) line {
    std::atomic<int> value{0};
  };
  line there, back;
  std::jthread partner{[&] {
    stay_on(1);
    for (int i = 1; i <= parts * calls; ++i) {
      while (there.value.load(std::memory_order_acquire) != i) {
      }
      back.value.store(i, std::memory_order_release);
    }
  }};
  stay_on(0);
  int i = 0;
  const double ns = median_ns(parts, calls, [&] {
    there.value.store(++i, std::memory_order_release);
    while (back.value.load(std::memory_order_acquire) != i) {
    }
  });
  return ns;
}

/// Reports the time of `f(c)` on two ranks in ns, and as a multiple of the line round trip.
template <class F>
void report(benchmark::State& state, F f, const creek::spmd_options& options = {}) {
  for (auto _ : state) {
    double limit = 0;
    std::jthread{[&] { limit = line_round_trip_ns(); }}.join();
    const double ns = on_two_ranks(f, options);
    state.SetIterationTime(ns * 1e-9);
    state.counters["line_round_trip_ns"] = limit;
    state.counters["times_limit"] = ns / limit;
  }
}

}  // namespace bench

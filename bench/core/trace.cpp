// SPDX-License-Identifier: Apache-2.0
// Cost of the clock, of a counter and of trace events, switched off and on. Goal: under 25 ns per
// event when on, a branch when off. `empty` is the loop itself.
#include <benchmark/benchmark.h>

#include <memory>

#include <creek/core/measuring/clock.hpp>
#include <creek/core/measuring/counters.hpp>
#include <creek/core/measuring/trace.hpp>

namespace {

namespace trace = creek::trace;

void empty(benchmark::State& state) {
  for (auto _ : state) benchmark::ClobberMemory();
}
BENCHMARK(empty);

void clock_now(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(creek::tick_clock::now());
}
BENCHMARK(clock_now);

void counter_add(benchmark::State& state) {
  creek::worker_counters counters;
  for (auto _ : state) {
    counters.add(creek::counter::tasks);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(counter_add);

// Records two events per iteration; the counter `per_event` holds the time per event.
void record_pairs(benchmark::State& state, trace::track* track) {
  benchmark::DoNotOptimize(track);  // so that the compiler does not know that it is null
  for (auto _ : state) {
    trace::begin(track, "task", 1);
    trace::end(track);
  }
  const auto events = 2.0 * static_cast<double>(state.iterations());
  state.counters["per_event"] =
      benchmark::Counter(events, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void trace_off(benchmark::State& state) {
  record_pairs(state, nullptr);
}
BENCHMARK(trace_off);

// Fixed number of iterations, so that no track gets full and memory stays at 64 MiB.
constexpr std::int64_t pairs = 1'000'000;

void trace_on(benchmark::State& state) {
  trace::session session({.bytes_per_track = std::size_t{128} << 20});
  record_pairs(state, &session.add_track("worker 0"));
  if (session.dropped() != 0) state.SkipWithError("events were dropped");
}
BENCHMARK(trace_on)->Iterations(pairs);

void trace_full(benchmark::State& state) {
  trace::session session({.bytes_per_track = 0});
  record_pairs(state, &session.add_track("worker 0"));
}
BENCHMARK(trace_full);

}  // namespace

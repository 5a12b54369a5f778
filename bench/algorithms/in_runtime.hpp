// SPDX-License-Identifier: Apache-2.0
// Runs the loop of a benchmark on the workers of a runtime or of oneTBB, set up outside the timed
// region.
#pragma once

#include <benchmark/benchmark.h>

#include <creek/tasking.hpp>

#if defined(BENCH_WITH_TBB)
#include <oneapi/tbb/task_arena.h>
#endif

namespace bench::algorithms {

/// Calls body() on one of `workers` creek workers.
template <class Body>
void in_creek(unsigned workers, Body&& body) {
  creek::scheduler_options options;
  options.workers = workers;
  creek::runtime(options).run(body);
}

#if defined(BENCH_WITH_TBB)
/// Calls body() in a oneTBB arena of `workers` threads.
template <class Body>
void in_tbb(unsigned workers, Body&& body) {
  tbb::task_arena(static_cast<int>(workers)).execute(body);
}
#endif

/// Times work(data) on a fresh copy of `input` for each iteration of `state`; items are elements.
template <class Data, class Work>
void run_on_copies(benchmark::State& state, const Data& input, Work&& work) {
  for (auto _ : state) {
    state.PauseTiming();
    Data data = input;
    state.ResumeTiming();
    work(data);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(input.size()));
}

}  // namespace bench::algorithms

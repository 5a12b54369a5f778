// SPDX-License-Identifier: Apache-2.0
// Runs Google Benchmark's loop, which has its own thread, as one task of a runtime, because these
// benchmarks are about calls inside a runtime.
#pragma once
#include <benchmark/benchmark.h>

#include <creek/tasking.hpp>

namespace bench {

/// Runs `loop(state)` on a worker of a runtime with state.range(0) workers, kept between
/// benchmarks.
void in_runtime(benchmark::State& state, void (*loop)(benchmark::State&));

/// Sets the arguments of every benchmark here: one worker, and two. Uses wall time, because a task
/// may move to another thread while the loop runs.
inline void worker_counts(benchmark::internal::Benchmark* b) {
  b->ArgName("workers")->Arg(1)->Arg(2)->UseRealTime();
}

}  // namespace bench

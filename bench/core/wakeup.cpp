// SPDX-License-Identifier: Apache-2.0
// The fences and the event count: the cost of a notification when nobody waits, and of registering
// a waiter.
#include <benchmark/benchmark.h>

#include <creek/core/threads/asymmetric_fence.hpp>
#include <creek/core/threads/event_count.hpp>

namespace {

void fence_light(benchmark::State& state) {
  for (auto _ : state) creek::light_fence();
}
BENCHMARK(fence_light);

void fence_full(benchmark::State& state) {
  for (auto _ : state) creek::full_fence();
}
BENCHMARK(fence_full);

void fence_heavy(benchmark::State& state) {
  state.SetLabel(creek::to_string(creek::prepare_heavy_fence()));
  for (auto _ : state) creek::heavy_fence();
}
BENCHMARK(fence_heavy);

template <typename EventCount>
void notify_nobody(benchmark::State& state) {
  EventCount count;
  for (auto _ : state) benchmark::DoNotOptimize(count.notify_one());
}
BENCHMARK_TEMPLATE(notify_nobody, creek::event_count);
BENCHMARK_TEMPLATE(notify_nobody, creek::symmetric_event_count);

template <typename EventCount>
void register_and_cancel(benchmark::State& state) {
  EventCount count;
  for (auto _ : state) {
    benchmark::DoNotOptimize(count.prepare_wait());
    count.cancel_wait();
  }
}
BENCHMARK_TEMPLATE(register_and_cancel, creek::event_count);
BENCHMARK_TEMPLATE(register_and_cancel, creek::symmetric_event_count);

}  // namespace

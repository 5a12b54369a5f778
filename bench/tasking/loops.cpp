// SPDX-License-Identifier: Apache-2.0
// Overhead of the parallel algorithms: loops with almost empty bodies.
#include <creek/tasking/parallel_for.hpp>
#include <creek/tasking/parallel_invoke.hpp>
#include <creek/tasking/parallel_reduce.hpp>
#include <functional>
#include <vector>

#include "in_runtime.hpp"

namespace bench {
namespace {

constexpr int short_loop = 100;
constexpr int long_loop = 1'000'000;

void empty_for(benchmark::State& state) {
  for (auto _ : state) {
    creek::parallel_for(0, short_loop, [](int i) { benchmark::DoNotOptimize(i); });
  }
}

void store_for(benchmark::State& state) {
  std::vector<float> data(long_loop);
  for (auto _ : state) {
    creek::parallel_for(0, long_loop, [at = data.data()](int i) { at[i] = 1; });
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * long_loop);
}

void reduce(benchmark::State& state) {
  const std::vector<float> data(long_loop, 1.0F);
  for (auto _ : state) {
    benchmark::DoNotOptimize(creek::parallel_reduce(data.begin(), data.end(), 0.0F, std::plus{}));
  }
  state.SetItemsProcessed(state.iterations() * long_loop);
}

void invoke(benchmark::State& state) {
  for (auto _ : state) creek::parallel_invoke([] {}, [] {}, [] {}, [] {});
}

void bm_parallel_for_100(benchmark::State& s) {
  in_runtime(s, empty_for);
}
void bm_parallel_for_store_1m(benchmark::State& s) {
  in_runtime(s, store_for);
}
void bm_parallel_reduce_1m(benchmark::State& s) {
  in_runtime(s, reduce);
}
void bm_parallel_invoke_4(benchmark::State& s) {
  in_runtime(s, invoke);
}

BENCHMARK(bm_parallel_for_100)->Apply(worker_counts);
BENCHMARK(bm_parallel_for_store_1m)->Apply(worker_counts);
BENCHMARK(bm_parallel_reduce_1m)->Apply(worker_counts);
BENCHMARK(bm_parallel_invoke_4)->Apply(worker_counts);

}  // namespace
}  // namespace bench

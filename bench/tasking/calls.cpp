// SPDX-License-Identifier: Apache-2.0
// Cost of one call: fork_join, spawn and taskwait, task_group, async and get, with empty tasks.
// Items are tasks, so items_per_second inverted is the cost of one task.
#include "in_runtime.hpp"

namespace bench {
namespace {

constexpr int batch = 1000;

void fork_join(benchmark::State& state) {
  for (auto _ : state) {
    int a = 1;
    auto [x, y] = creek::fork_join([&] { return a; }, [&] { return a + 1; });
    benchmark::DoNotOptimize(x + y);
  }
  state.SetItemsProcessed(state.iterations());
}

void spawn_taskwait(benchmark::State& state) {
  for (auto _ : state) {
    for (int i = 0; i < batch; ++i) creek::spawn([i] { benchmark::DoNotOptimize(i); });
    creek::taskwait();
  }
  state.SetItemsProcessed(state.iterations() * batch);
}

void spawn_one_taskwait(benchmark::State& state) {
  for (auto _ : state) {
    creek::spawn([] {});
    creek::taskwait();
  }
  state.SetItemsProcessed(state.iterations());
}

void task_group(benchmark::State& state) {
  for (auto _ : state) {
    creek::task_group group;
    for (int i = 0; i < batch; ++i) group.spawn([i] { benchmark::DoNotOptimize(i); });
    group.wait();
  }
  state.SetItemsProcessed(state.iterations() * batch);
}

void async_get(benchmark::State& state) {
  for (auto _ : state) {
    creek::future<int> f = creek::async([] { return 1; });
    benchmark::DoNotOptimize(f.get());
  }
  state.SetItemsProcessed(state.iterations());
}

void enter_runtime(benchmark::State& state) {
  creek::scheduler_options options;
  options.workers = static_cast<unsigned>(state.range(0));
  creek::runtime runtime(options);
  for (auto _ : state) runtime.run([] {});
}

void bm_fork_join(benchmark::State& s) {
  in_runtime(s, fork_join);
}
void bm_spawn_taskwait(benchmark::State& s) {
  in_runtime(s, spawn_taskwait);
}
void bm_spawn_one_taskwait(benchmark::State& s) {
  in_runtime(s, spawn_one_taskwait);
}
void bm_task_group(benchmark::State& s) {
  in_runtime(s, task_group);
}
void bm_async_get(benchmark::State& s) {
  in_runtime(s, async_get);
}

BENCHMARK(bm_fork_join)->Apply(worker_counts);
BENCHMARK(bm_spawn_taskwait)->Apply(worker_counts);
BENCHMARK(bm_spawn_one_taskwait)->Apply(worker_counts);
BENCHMARK(bm_task_group)->Apply(worker_counts);
BENCHMARK(bm_async_get)->Apply(worker_counts);
BENCHMARK(enter_runtime)->Name("bm_runtime_run")->Apply(worker_counts);

}  // namespace
}  // namespace bench

// SPDX-License-Identifier: Apache-2.0
// Cost of the task graph with empty tasks, so that items_per_second inverted is the price of
// adding, running and ending one task. The counters: its memory, and the edges it found.
#include <creek/linalg/task_graph.hpp>
#include <vector>

#include "tasking/in_runtime.hpp"

namespace bench {
namespace {

using namespace creek::linalg;

/// Adds tasks as in LU on `count` by `count` blocks, no pivoting; one to three operands each.
void add_lu(task_graph& graph, const std::vector<char>& blocks, int count) {
  const auto block = [&](int i, int j) { return &blocks[static_cast<std::size_t>(i * count + j)]; };
  const auto nothing = [](const char* written) { benchmark::DoNotOptimize(written); };
  for (int k = 0; k < count; ++k) {
    graph.add({"getrf", 2.0 / 3}, {inout(block(k, k))}, [=] { nothing(block(k, k)); });
    for (int i = k + 1; i < count; ++i) {
      graph.add({"trsm", 1}, {in(block(k, k)), inout(block(i, k))}, [=] { nothing(block(i, k)); });
      graph.add({"trsm", 1}, {in(block(k, k)), inout(block(k, i))}, [=] { nothing(block(k, i)); });
    }
    for (int j = k + 1; j < count; ++j) {
      for (int i = k + 1; i < count; ++i) {
        graph.add({"gemm", 2}, {in(block(i, k)), in(block(k, j)), inout(block(i, j))},
                  [=] { nothing(block(i, j)); });
      }
    }
  }
}

void report(benchmark::State& state, const graph_report& last) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(last.tasks));
  state.counters["tasks"] = static_cast<double>(last.tasks);
  state.counters["edges"] = static_cast<double>(last.edges);
  state.counters["peak_MiB"] = static_cast<double>(last.peak_bytes) / (1024.0 * 1024.0);
}

void lu_graph(benchmark::State& state, graph_options options) {
  const auto count = static_cast<int>(state.range(1));
  const std::vector<char> blocks(static_cast<std::size_t>(count) * static_cast<std::size_t>(count));
  graph_report last;
  for (auto _ : state) {
    task_graph graph(options);
    add_lu(graph, blocks, count);
    last = graph.wait();
  }
  report(state, last);
}

/// Sets sizes; n = 8000 by blocks of 64 is 125 by 125 blocks, 658,125 tasks.
void sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"workers", "blocks"})->UseRealTime()->Unit(benchmark::kMillisecond);
  for (const int workers : {1, 2}) {
    for (const int count : {16, 125}) b->Args({workers, count});
  }
}

void bm_lu_graph(benchmark::State& s) {
  in_runtime(s, [](benchmark::State& state) { lu_graph(state, {}); });
}
void bm_lu_graph_recorded(benchmark::State& s) {
  in_runtime(s, [](benchmark::State& state) { lu_graph(state, {.record = true}); });
}
void bm_lu_dry_run(benchmark::State& s) {
  in_runtime(s, [](benchmark::State& state) { lu_graph(state, {.dry_run = true}); });
}

/// Adds tasks that are independent, or each depend on the previous one.
void lines(benchmark::State& state, std::size_t width) {
  constexpr int tasks = 100'000;
  const std::vector<char> blocks(width);
  graph_report last;
  for (auto _ : state) {
    task_graph graph;
    for (std::size_t i = 0; i < tasks; ++i) {
      const char* block = &blocks[i % width];
      graph.add({}, {inout(block)}, [=] { benchmark::DoNotOptimize(block); });
    }
    last = graph.wait();
  }
  report(state, last);
}

void bm_independent(benchmark::State& s) {
  in_runtime(s, [](benchmark::State& state) { lines(state, 100'000); });
}
void bm_chain(benchmark::State& s) {
  in_runtime(s, [](benchmark::State& state) { lines(state, 1); });
}

BENCHMARK(bm_lu_graph)->Apply(sizes);
BENCHMARK(bm_lu_graph_recorded)->Apply(sizes);
BENCHMARK(bm_lu_dry_run)->ArgNames({"workers", "blocks"})->Args({1, 125})->UseRealTime();
BENCHMARK(bm_independent)->Apply(worker_counts);
BENCHMARK(bm_chain)->Apply(worker_counts);

}  // namespace
}  // namespace bench

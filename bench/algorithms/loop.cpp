// SPDX-License-Identifier: Apache-2.0
// Loops: axpy from cache-resident to memory-bound sizes, a sum, and a transpose by tiles, compared
// with OpenMP's static schedule. Arguments: elements (or rows), workers.
#include <vector>

#include <creek/tasking/blocked_range.hpp>
#include <creek/tasking/parallel_for.hpp>
#include <creek/tasking/parallel_reduce.hpp>

#include "in_runtime.hpp"

namespace bench::algorithms {
namespace {

void loop_sizes(benchmark::internal::Benchmark* b) {
  b->ArgsProduct({{1'000, 20'000, 1'000'000, 20'000'000}, {1, 2}})->UseRealTime();
}

/// Calls axpy(n, x, y) repeatedly and times it.
template <class Axpy>
void time_axpy(benchmark::State& state, const Axpy& axpy) {
  const auto n = static_cast<std::size_t>(state.range(0));
  std::vector<double> x(n, 1.0), y(n, 2.0);
  for (auto _ : state) {
    axpy(n, x.data(), y.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 24);
}

void axpy_creek(benchmark::State& state) {
  in_creek(static_cast<unsigned>(state.range(1)), [&] {
    time_axpy(state, [](std::size_t n, const double* x, double* y) {
      creek::parallel_for(std::size_t{0}, n, [=](std::size_t i) { y[i] += 3.0 * x[i]; });
    });
  });
}
BENCHMARK(axpy_creek)->Apply(loop_sizes);

#if defined(_OPENMP)
void axpy_openmp(benchmark::State& state) {
  const int workers = static_cast<int>(state.range(1));
  time_axpy(state, [workers](std::size_t n, const double* x, double* y) {
#pragma omp parallel for schedule(static) num_threads(workers)
    for (std::size_t i = 0; i < n; ++i) y[i] += 3.0 * x[i];
  });
}
BENCHMARK(axpy_openmp)->Apply(loop_sizes);
#endif

void sum_creek(benchmark::State& state) {
  in_creek(static_cast<unsigned>(state.range(1)), [&] {
    const std::vector<double> x(static_cast<std::size_t>(state.range(0)), 1.0);
    for (auto _ : state) {
      benchmark::DoNotOptimize(creek::parallel_reduce(x, 0.0, std::plus{}));
    }
    state.SetBytesProcessed(state.iterations() * state.range(0) * 8);
  });
}
BENCHMARK(sum_creek)->Apply(loop_sizes);

void transpose_creek(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  in_creek(static_cast<unsigned>(state.range(1)), [&] {
    const std::vector<double> a(n * n, 1.0);
    std::vector<double> b(n * n);
    for (auto _ : state) {
      creek::parallel_for(creek::blocked_range_2d<std::size_t>{0, n, 0, n, 32, 32},
                          [&](const auto& tile) {
                            for (auto i : tile.rows()) {
                              for (auto j : tile.cols()) b[j * n + i] = a[i * n + j];
                            }
                          });
      benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(state.iterations() * state.range(0) * state.range(0) * 16);
  });
}
BENCHMARK(transpose_creek)->ArgsProduct({{2000}, {1, 2}})->UseRealTime();

}  // namespace
}  // namespace bench::algorithms

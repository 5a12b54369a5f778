// SPDX-License-Identifier: Apache-2.0
// Prefix sums of 64-bit integers against std::inclusive_scan and oneTBB. Arguments: elements,
// workers.
#include <cstdint>
#include <numeric>
#include <vector>

#include <creek/tasking/parallel_scan.hpp>

#include "in_runtime.hpp"

#if defined(BENCH_WITH_TBB)
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_scan.h>
#endif

namespace bench::algorithms {
namespace {

using sums = std::vector<std::int64_t>;

template <class Scan>
void time_scan(benchmark::State& state, const Scan& scan) {
  const sums in(static_cast<std::size_t>(state.range(0)), 1);
  sums out(in.size());
  for (auto _ : state) {
    scan(in, out);
    benchmark::DoNotOptimize(out.data());
  }
  if (out.back() != state.range(0)) state.SkipWithError("wrong sum");
  state.SetBytesProcessed(state.iterations() * state.range(0) * 16);
}

void scan_serial(benchmark::State& state) {
  time_scan(state, [](const sums& in, sums& out) {
    std::inclusive_scan(in.begin(), in.end(), out.begin());
  });
}
BENCHMARK(scan_serial)->Args({10'000'000, 1})->UseRealTime()->Unit(benchmark::kMillisecond);

void scan_creek(benchmark::State& state) {
  in_creek(static_cast<unsigned>(state.range(1)), [&] {
    time_scan(state, [](const sums& in, sums& out) {
      creek::parallel_inclusive_scan(in.begin(), in.end(), out.begin());
    });
  });
}
BENCHMARK(scan_creek)
    ->ArgsProduct({{10'000'000}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

#if defined(BENCH_WITH_TBB)
void scan_tbb(benchmark::State& state) {
  in_tbb(static_cast<unsigned>(state.range(1)), [&] {
    time_scan(state, [](const sums& in, sums& out) {
      tbb::parallel_scan(
          tbb::blocked_range<std::size_t>(0, in.size()), std::int64_t{0},
          [&](const auto& range, std::int64_t sum, bool is_final) {
            for (std::size_t i = range.begin(); i != range.end(); ++i) {
              sum += in[i];
              if (is_final) out[i] = sum;
            }
            return sum;
          },
          std::plus<>{});
    });
  });
}
BENCHMARK(scan_tbb)
    ->ArgsProduct({{10'000'000}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
#endif

}  // namespace
}  // namespace bench::algorithms

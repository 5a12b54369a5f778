// SPDX-License-Identifier: Apache-2.0
// Sorts of 10^6 and 10^7 elements against std::sort and oneTBB: keys, keys by a comparator that
// hides them from the vectorised sort, strings, stable sorts. Arguments: elements, workers.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <creek/tasking/parallel_sort.hpp>

#include "in_runtime.hpp"

#if defined(BENCH_WITH_TBB)
#include <oneapi/tbb/parallel_sort.h>
#endif

namespace bench::algorithms {
namespace {

template <class T>
std::vector<T> input(const benchmark::State& state) {
  std::mt19937_64 random(1);
  std::vector<T> data(static_cast<std::size_t>(state.range(0)));
  for (T& x : data) {
    if constexpr (std::same_as<T, std::string>) {
      x = std::to_string(random());
    } else {
      x = static_cast<T>(static_cast<std::int64_t>(random()));
    }
  }
  return data;
}

struct std_sort {
  static constexpr auto within = [](unsigned, auto&& body) { body(); };
  void operator()(auto& data, auto less) const { std::sort(data.begin(), data.end(), less); }
};
struct std_stable_sort {
  static constexpr auto within = [](unsigned, auto&& body) { body(); };
  void operator()(auto& data, auto less) const { std::stable_sort(data.begin(), data.end(), less); }
};
struct creek_sort {
  static constexpr auto within = [](unsigned workers, auto&& body) { in_creek(workers, body); };
  void operator()(auto& data, auto less) const { creek::parallel_sort(data, less); }
};
struct creek_stable_sort {
  static constexpr auto within = [](unsigned workers, auto&& body) { in_creek(workers, body); };
  void operator()(auto& data, auto less) const { creek::parallel_stable_sort(data, less); }
};
#if defined(BENCH_WITH_TBB)
struct tbb_sort {
  static constexpr auto within = [](unsigned workers, auto&& body) { in_tbb(workers, body); };
  void operator()(auto& data, auto less) const { tbb::parallel_sort(data, less); }
};
#endif

/// The same order as std::less, which the library cannot recognize as such.
struct opaque_less {
  bool operator()(const auto& a, const auto& b) const { return a < b; }
};

template <class Sort, class T, class Less>
void sort(benchmark::State& state) {
  const auto data = input<T>(state);
  Sort::within(static_cast<unsigned>(state.range(1)), [&] {
    auto once = data;
    Sort{}(once, Less{});
    if (!std::is_sorted(once.begin(), once.end())) throw std::logic_error("not sorted");
    run_on_copies(state, data, [](auto& copy) { Sort{}(copy, Less{}); });
  });
}

void serial(benchmark::internal::Benchmark* b) {
  b->Args({1'000'000, 1})->Args({10'000'000, 1})->UseRealTime()->Unit(benchmark::kMillisecond);
}
void parallel(benchmark::internal::Benchmark* b) {
  b->ArgsProduct({{1'000'000, 10'000'000}, {1, 2}})->UseRealTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK(sort<std_sort, std::int32_t, std::less<>>)->Apply(serial);
BENCHMARK(sort<creek_sort, std::int32_t, std::less<>>)->Apply(parallel);
BENCHMARK(sort<std_sort, double, std::less<>>)->Apply(serial);
BENCHMARK(sort<creek_sort, double, std::less<>>)->Apply(parallel);
BENCHMARK(sort<creek_sort, std::int32_t, opaque_less>)->Apply(parallel);
BENCHMARK(sort<std_sort, std::string, opaque_less>)->Apply(serial);
BENCHMARK(sort<creek_sort, std::string, opaque_less>)->Apply(parallel);
BENCHMARK(sort<std_stable_sort, double, std::less<>>)->Apply(serial);
BENCHMARK(sort<creek_stable_sort, double, std::less<>>)->Apply(parallel);
#if defined(BENCH_WITH_TBB)
BENCHMARK(sort<tbb_sort, std::int32_t, std::less<>>)->Apply(parallel);
BENCHMARK(sort<tbb_sort, double, std::less<>>)->Apply(parallel);
BENCHMARK(sort<tbb_sort, std::string, opaque_less>)->Apply(parallel);
#endif

}  // namespace
}  // namespace bench::algorithms

// SPDX-License-Identifier: Apache-2.0
// find_if, merge, unique and partition of 10^7 integers against those of std, which are serial.
// Arguments: elements, workers. Scans are in prefix.cpp, stable sorts in sort.cpp.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <creek/tasking/algorithm.hpp>

#include "in_runtime.hpp"

namespace bench::algorithms {
namespace {

using numbers = std::vector<std::uint32_t>;

struct of_std {
  static constexpr auto within = [](unsigned, auto&& body) { body(); };
  static constexpr auto find_if = std::ranges::find_if;
  static constexpr auto merge = std::ranges::merge;
  static void unique(numbers& v) { v.erase(std::unique(v.begin(), v.end()), v.end()); }
  static void partition(numbers& v, auto pred) { std::partition(v.begin(), v.end(), pred); }
};
struct of_creek {
  static constexpr auto within = [](unsigned workers, auto&& body) { in_creek(workers, body); };
  static constexpr auto find_if = creek::find_if;
  static constexpr auto merge = creek::merge;
  static void unique(numbers& v) { v.erase(creek::unique(v), v.end()); }
  static void partition(numbers& v, auto pred) { creek::partition(v, pred); }
};

numbers ascending(const benchmark::State& state) {
  numbers v(static_cast<std::size_t>(state.range(0)));
  std::iota(v.begin(), v.end(), 0u);
  return v;
}

template <class Library, class Work>
void measure(benchmark::State& state, const Work& work) {
  Library::within(static_cast<unsigned>(state.range(1)), [&] {
    for (auto _ : state) work();
    state.SetItemsProcessed(state.iterations() * state.range(0));
  });
}

/// The match is the last element.
template <class Library>
void find_if(benchmark::State& state) {
  const numbers v = ascending(state);
  const auto is_last = [last = v.back()](std::uint32_t x) { return x == last; };
  measure<Library>(state, [&] {
    if (Library::find_if(v, is_last) + 1 != v.end()) throw std::logic_error("not the match");
  });
}

template <class Library>
void merge(benchmark::State& state) {
  numbers a = ascending(state), out(a.size());
  const auto odd = std::stable_partition(a.begin(), a.end(), [](auto x) { return x % 2 == 0; });
  const numbers evens(a.begin(), odd), odds(odd, a.end());
  measure<Library>(state, [&] {
    Library::merge(evens, odds, out.begin());
    benchmark::ClobberMemory();
  });
  if (!std::is_sorted(out.begin(), out.end())) throw std::logic_error("not sorted");
}

/// Each value occurs four times.
template <class Library>
void unique(benchmark::State& state) {
  numbers v = ascending(state);
  for (auto& x : v) x /= 4;
  Library::within(static_cast<unsigned>(state.range(1)),
                  [&] { run_on_copies(state, v, [](numbers& copy) { Library::unique(copy); }); });
}

template <class Library>
void partition(benchmark::State& state) {
  numbers v = ascending(state);
  for (auto& x : v) x *= 2654435761u;  // golden ratio: an order without a pattern
  Library::within(static_cast<unsigned>(state.range(1)), [&] {
    run_on_copies(state, v, [](numbers& copy) {
      Library::partition(copy, [](std::uint32_t x) { return x < 0x80000000u; });
    });
  });
}

void serial(benchmark::internal::Benchmark* b) {
  b->Args({10'000'000, 1})->UseRealTime()->Unit(benchmark::kMillisecond);
}
void parallel(benchmark::internal::Benchmark* b) {
  b->ArgsProduct({{10'000'000}, {1, 2}})->UseRealTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK(find_if<of_std>)->Apply(serial);
BENCHMARK(find_if<of_creek>)->Apply(parallel);
BENCHMARK(merge<of_std>)->Apply(serial);
BENCHMARK(merge<of_creek>)->Apply(parallel);
BENCHMARK(unique<of_std>)->Apply(serial);
BENCHMARK(unique<of_creek>)->Apply(parallel);
BENCHMARK(partition<of_std>)->Apply(serial);
BENCHMARK(partition<of_creek>)->Apply(parallel);

}  // namespace
}  // namespace bench::algorithms

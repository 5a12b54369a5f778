// SPDX-License-Identifier: Apache-2.0
// Push and pop at the owner's end of both deques, without a scheduler.
#include <benchmark/benchmark.h>

#include "deque/standalone.hpp"

namespace bench {
namespace {

constexpr std::uint64_t burst = 64;

template <class Deque>
void bm_push_pop(benchmark::State& state) {
  Deque tasks(2 * burst);
  for (auto _ : state) {
    for (std::uint64_t i = 0; i < burst; ++i) tasks.push(i);
    for (std::uint64_t i = 0; i < burst; ++i) benchmark::DoNotOptimize(tasks.pop());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(burst));
}

BENCHMARK(bm_push_pop<deque::split_deque>);
BENCHMARK(bm_push_pop<deque::locked_deque>);

}  // namespace
}  // namespace bench

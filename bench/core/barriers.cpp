// SPDX-License-Identifier: Apache-2.0
// Barriers of two threads, compared with the cache-line round trip and with std::barrier.
#include <barrier>

#include <creek/core/protocols/central_barrier.hpp>
#include <creek/core/protocols/dissemination_barrier.hpp>
#include <creek/core/protocols/tournament_barrier.hpp>

#include "two_ranks.hpp"

namespace {

using creek::team;
using creek::host_backend::memory;

const auto make_central = [](memory& m) {
  return creek::central_barrier{m, team{m}, 0, creek::counter_id{0}};
};
const auto make_dissemination = [](memory& m) {
  return creek::dissemination_barrier{m, team{m}, 0};
};
const auto make_tournament = [](memory& m) { return creek::tournament_barrier{m, team{m}, 0}; };

struct standard {
  std::barrier<>& all;
  void wait() { all.arrive_and_wait(); }
};

template <class Make>
void barrier(benchmark::State& state, Make make) {
  for (auto _ : state) {
    double limit = 0, ns = 0;
    std::jthread{[&] { limit = bench::line_round_trip_ns(); }}.join();
    creek::host_backend::run_ranks(2, {}, [&](memory& m) {
      bench::stay_on(m.self().value);
      auto meet = make(m);
      const double mine = bench::median_ns(bench::parts, bench::calls, [&] { meet.wait(); });
      if (m.self() == creek::core_id{0}) ns = mine;
    });
    state.SetIterationTime(ns * 1e-9);
    state.counters["times_limit"] = ns / limit;
  }
}
void standard_barrier(benchmark::State& state) {
  std::barrier<> all{2};
  barrier(state, [&](memory&) { return standard{all}; });
}

BENCHMARK_CAPTURE(barrier, central, make_central)->UseManualTime()->Iterations(5);
BENCHMARK_CAPTURE(barrier, dissemination, make_dissemination)->UseManualTime()->Iterations(5);
BENCHMARK_CAPTURE(barrier, tournament, make_tournament)->UseManualTime()->Iterations(5);
BENCHMARK(standard_barrier)->UseManualTime()->Iterations(5);

}  // namespace

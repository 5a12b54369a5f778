// SPDX-License-Identifier: Apache-2.0
// Cost of a free lock, and of one that two threads contend for; std::mutex for comparison.
#include <mutex>

#include <creek/core/protocols/mcs_lock.hpp>
#include <creek/core/protocols/test_and_set_lock.hpp>
#include <creek/core/protocols/ticket_lock.hpp>

#include "two_ranks.hpp"

namespace {

using creek::core_id;
using creek::host_backend::memory;

std::mutex mutex;
const auto make_mutex = [](memory&) { return std::unique_lock{mutex, std::defer_lock}; };
const auto make_test_and_set = [](memory& m) { return creek::test_and_set_lock{m, core_id{0}}; };
const auto make_ticket = [](memory& m) {
  return creek::ticket_lock{m, core_id{0}, 0, creek::counter_id{0}};
};
const auto make_mcs = [](memory& m) { return creek::mcs_lock{m, core_id{0}, 64}; };

template <class Make>
void free_lock(benchmark::State& state, Make make) {
  creek::host_backend::memory_space space{1};
  memory m = space.core(core_id{0});
  auto lock = make(m);
  for (auto _ : state) {
    lock.lock();
    lock.unlock();
  }
}

template <class Make>
void contended_lock(benchmark::State& state, Make make) {
  for (auto _ : state) {
    double ns = 0;
    long counter = 0;
    creek::host_backend::run_ranks(2, {}, [&](memory& m) {
      bench::stay_on(m.self().value);
      auto lock = make(m);
      const double mine = bench::median_ns(bench::parts, bench::calls, [&] {
        lock.lock();
        ++counter;
        lock.unlock();
      });
      if (m.self() == core_id{0}) ns = mine;
    });
    if (counter != 2L * bench::parts * bench::calls) state.SkipWithError("lost an increment");
    state.SetIterationTime(ns * 1e-9);
  }
}

#define LOCKS(name)                                \
  BENCHMARK_CAPTURE(free_lock, name, make_##name); \
  BENCHMARK_CAPTURE(contended_lock, name, make_##name)->UseManualTime()->Iterations(5)
LOCKS(mutex);
LOCKS(test_and_set);
LOCKS(ticket);
LOCKS(mcs);

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// The lock-based deque alone: the owner's insert and take, and an uncontended steal.
#include <benchmark/benchmark.h>

#include <creek/host/memory.hpp>
#include <creek/tasking/lock_deque.hpp>

namespace {

using creek::core_id;
using memory = creek::host_backend::memory;

struct task {
  void* words[8] = {};
};
using deque = creek::lock_deque<memory, task>;

struct fixture {
  creek::host_backend::memory_space space{2, {.mpm_bytes = deque::bytes_needed(64)}};
  memory owner = space.core(core_id{0});
  memory thief = space.core(core_id{1});
  deque tasks{core_id{0}, owner.at(core_id{0}, 0), 64};
  fixture() { tasks.reset(owner); }
};

void push_pop(benchmark::State& state) {
  fixture f;
  task t;
  for (auto _ : state) {
    benchmark::DoNotOptimize(f.tasks.push(f.owner, t));
    benchmark::DoNotOptimize(f.tasks.pop_newest(f.owner, t));
  }
}
void push_steal(benchmark::State& state) {
  fixture f;
  task t;
  for (auto _ : state) {
    benchmark::DoNotOptimize(f.tasks.push(f.owner, t));
    benchmark::DoNotOptimize(f.tasks.steal_oldest(f.thief, t));
  }
}
void pop_from_empty(benchmark::State& state) {
  fixture f;
  task t;
  for (auto _ : state) benchmark::DoNotOptimize(f.tasks.pop_newest(f.owner, t));
}

BENCHMARK(push_pop);
BENCHMARK(push_steal);
BENCHMARK(pop_from_empty);

}  // namespace

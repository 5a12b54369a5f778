// SPDX-License-Identifier: Apache-2.0
// A remote work queue: single producer and consumers (SPC) by invocations. The queue is an object
// on core 0, where the producer runs too; every other core asks it for one task after the other.
// Sources: the work queue of [Rotta 2012] and SPC of [Prell 2011] (docs/scc/machine.md).
#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include <creek/core/charge.hpp>

#include "invocations.hpp"
#include "runtime_on_chip.hpp"

namespace creek::tool {
namespace {

constexpr int tasks_a_consumer = 32;
constexpr int none_yet = -1;
constexpr int no_more = -2;

struct work_queue {
  std::deque<int> waiting;
  int left = 0;  ///< tasks that nobody has taken yet, made or not
  void put(int task) { waiting.push_back(task); }
  int take() {
    if (left == 0) return no_more;
    if (waiting.empty()) return none_yet;
    --left;
    const int task = waiting.front();
    waiting.pop_front();
    return task;
  }
};

/// Runs one consumer until there are no more tasks. A task computes for `length`.
void consume(const remote<work_queue>& queue, cycles length, std::vector<int>& runs) {
  constexpr cycles first_pause{500}, longest_pause{32'000};
  cycles pause = first_pause;
  for (int task = none_yet; task != no_more;) {
    task = queue.call(&work_queue::take);
    if (task == none_yet) {
      // Consumers that ask again at once keep the queue's core from the producer.
      charge(pause);
      pause = std::min(pause + pause, longest_pause);
    }
    if (task < 0) continue;
    pause = first_pause;
    charge(length);
    ++runs.at(static_cast<std::size_t>(task));
  }
}

}  // namespace

queue_costs measure_work_queue(const invocation_setup& on, double length_s) {
  const int consumers = on.cores - 1;
  const int tasks = consumers * tasks_a_consumer;
  const double core_hz = on.machine.description.clocks.core.frequency().value;
  const cycles length{static_cast<std::int64_t>(length_s * core_hz)};
  double took = 0;
  run_tasks(on, idle_policy::poll, [&] {
    const remote<work_queue> queue = make_on<work_queue>(core_id{0});
    queue.call([](work_queue& q, int count) { q.left = count; }, tasks);
    std::vector<int> runs(static_cast<std::size_t>(tasks));
    std::vector<future<void>> done;
    const virtual_time begun = now();
    for (int i = 1; i < on.cores; ++i) {
      done.push_back(async_on(core_id{i}, [&] { consume(queue, length, runs); }));
    }
    for (int task = 0; task < tasks; ++task) queue.post(&work_queue::put, task);
    for (auto& each : done) each.get();
    took = seconds(now() - begun);
    for (const int each : runs) require(each == 1, "a task did not run once");
  });
  return {took / tasks, length_s * tasks / (took * consumers)};
}

}  // namespace creek::tool

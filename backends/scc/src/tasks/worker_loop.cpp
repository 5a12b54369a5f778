// SPDX-License-Identifier: Apache-2.0
#include "worker_loop.hpp"

#include <cstdio>
#include <cstdlib>

#include "tasks/schedule/work_span.hpp"

namespace creek::scc_backend {

namespace {

// Costs of the runtime's own instructions beside its accesses to shared memory, in core cycles.
// Estimates: two cycles per line of source, on a core that issues up to two instructions per cycle,
// and ten for a call with its return. Small beside the accesses; stated so that they are not zero.
constexpr cycles beginning_a_task{30};  ///< scope, indirect call

[[noreturn]] void end_child_of_fork() noexcept {
  std::fputs("creek: the child of a fork() in a task returned from it; end it with exec or _exit\n",
             stderr);
  std::abort();
}

}  // namespace

worker_loop::worker_loop(ext::executor& home, const scheduler_options& options,
                         const worker_set& workers, schedule_log& log, pending_work& pending,
                         outside_work& outside, core_messages& messages, idle_workers& idle,
                         task_queues& queues, strands& waiting, spawner& forks) noexcept
    : home_(home),
      options_(options),
      workers_(workers),
      log_(log),
      pending_(pending),
      messages_(messages),
      idle_(idle),
      queues_(queues),
      strands_(waiting),
      spawner_(forks),
      intake_(workers, pending, outside, messages, idle) {}

void worker_loop::begin(task_worker& worker) {
  strands_.begin(worker);
  worker.memory.store(worker.event, 0);
  queues_.reset(worker);
  idle_.begin(worker);
  await_all_queues(worker);
  // Cores of a real chip do not begin in one cycle: another seed, another schedule.
  const auto choices =
      static_cast<std::uint64_t>(workers_.chip().description().start_skew.count) + 1;
  const auto self = static_cast<std::uint64_t>(worker.core.value);
  worker.memory.charge(cycles{static_cast<std::int64_t>(drawn(options_.seed, self, 0) % choices)});
  run(worker);
}

/// Parks until all workers have made their queues: no worker looks at one before.
void worker_loop::await_all_queues(task_worker& worker) {
  if (++begun_ == workers_.size()) return idle_.wake_all();
  worker.parked = true;
  workers_.chip().simulation().park("the other workers, core", worker.core.index());
}

void worker_loop::run(task_worker& worker) {
  for (;;) {
    intake_.look_between_tasks();
    if (pending_.finished) return;
    if (pending_.active == 0) {
      intake_.rest();
      continue;
    }
    const virtual_time began = workers_.now();
    if (work_once(worker)) continue;
    idle_.idle(worker);
    const auto idle_ns = (workers_.now() - began).femtoseconds / 1'000'000;
    worker.counters.add(counter::idle_ns, static_cast<std::uint64_t>(idle_ns));
  }
}

/// Runs one task or strand; returns false if none was found.
bool worker_loop::work_once(task_worker& worker) {
  if (worker.core.value == 0 && !pending_.messages.empty()) intake_.send_messages();
  const bool served = messages_.serve(worker);
  strands_.end_waits(worker);
  if (strands_.resume_one(worker)) return true;
  task_record task;
  if (!find_task(worker, task)) return served;
  run_task(worker, task);
  return true;
}

bool worker_loop::find_task(task_worker& worker, task_record& task) {
  if (worker.core.value == 0 && !pending_.arrived.empty()) {
    take_arrived(worker, task);
    return true;
  }
  if (queues_.take_own(worker, task)) return true;
  const bool may_steal = !worker.serves_only && !idle_.policy().too_many_awake();
  return may_steal && queues_.steal_one(worker, task);
}

/// Takes the oldest task from outside, and moves the others to the worker's deque.
void worker_loop::take_arrived(task_worker& worker, task_record& task) {
  task.task = pending_.arrived.front();
  pending_.arrived.pop_front();
  while (!pending_.arrived.empty() && queues_.put(worker, {pending_.arrived.front(), nullptr})) {
    pending_.arrived.pop_front();
    --pending_.active;  // counted twice now
  }
}

void worker_loop::run_task(task_worker& worker, const task_record& taken) {
  worker.memory.charge(beginning_a_task);
  worker.counters.add(counter::tasks);
  {
    machine& chip = workers_.chip();
    const work_span span(home_, chip, log_, idle_.policy(), worker, "task");
    if (taken.branch != nullptr) {
      spawner_.run(*taken.branch);
    } else {
      chip.computing().start();
      taken.task->run(taken.task);
      chip.computing().stop();
    }
  }
  if (strands_.lost_in_fork()) [[unlikely]]
    end_child_of_fork();
  --pending_.active;
  if (!pending_.roots.empty()) std::erase(pending_.roots, taken.task);
}

}  // namespace creek::scc_backend

// SPDX-License-Identifier: Apache-2.0
#include "graph_workers.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <string>

#include <creek/core/error.hpp>
#include <creek/core/measuring/clock.hpp>

#include "graph/records/task_links.hpp"

namespace creek::linalg::detail {

namespace {

/// Time that a strand waits for tasks before it leaves: about the cost of spawning another strand.
constexpr std::chrono::nanoseconds spin_wait_time{2000};

/// Returns both lists of tasks that became ready, as one.
graph_task* join_lists(graph_task* first, graph_task* second) noexcept {
  graph_task* last = first;
  while (last->next != nullptr) last = last->next;
  last->next = second;
  return first;
}

/// Returns the length of a list of tasks that became ready.
std::size_t length(const graph_task* first) noexcept {
  std::size_t tasks = 0;
  for (; first != nullptr; first = first->next) ++tasks;
  return tasks;
}

}  // namespace

void graph_workers::begin() {
  strands_.begin();
  count_ = worker_count();
  power_.begin(strands_.policy());
  runner_.run_as_tasks(strands_.exists());
  state_.reports.begin(worker_here());
  state_.schedule.begin(count_, strands_.exists(), !strands_.has_task_stacks());
  begun_ = true;
}

void graph_workers::require_caller(const char* what) const {
  if (strands_.is_caller()) return;
  throw usage_error(std::string("task_graph::") + what +
                    ": call it in the task, or on the thread, that made the first add()");
}

void graph_workers::spawn(unsigned strands) noexcept {
  for (; strands > 0; --strands) {
    if (strands_.spawn([this] { run_strand(); })) continue;
    // Out of memory. No task depends on an extra strand: a worker that finds ready tasks runs them.
    state_.schedule.spawn_failed();
  }
}

void graph_workers::publish(graph_task* task) noexcept {
  const unsigned spawns = state_.schedule.publish(task, power_.limits(1));
  if (spawns > 0) spawn(spawns);
}

void graph_workers::run_strand() noexcept {
  while (graph_task* task = take_or_leave()) {
    while (task != nullptr) {
      runner_.run(*task);
      task = end_and_take(*task, true, 0);
    }
    if (!strands_.has_task_stacks()) continue;
    static_cast<void>(spin_until([this] { return state_.schedule.ready() != 0; }, spin_wait_time));
  }
}

graph_task* graph_workers::take_or_leave() noexcept {
  const auto taken = state_.schedule.take_or_leave(worker_here(), power_.max_awake());
  if (taken.spawns > 0) spawn(taken.spawns);
  return taken.task;
}

/// Ends a task that ran; returns its successors that became ready.
inline graph_task* graph_workers::close(graph_task& task, int here) noexcept {
  graph_section turn = state_.reports.section();
  unsigned edges = 0;
  graph_task* const released = close_successors(task, here, edges);
  turn.changed_edges(edges);
  state_.ended.push(task);
  return released;
}

// Not inlined: see worker_here().
[[gnu::noinline]] graph_task* graph_workers::end_and_take(graph_task& task, bool by_strand,
                                                          std::size_t goal) noexcept {
  const int here = this_worker();
  task.ran_on = static_cast<std::int16_t>(here);
  if (task.run != nullptr) task.run->worker = here;
  // Its turns end before its record is given back.
  graph_task* const next = task.commutes ? state_.schedule.end_turns(task) : nullptr;
  graph_task* released = close(task, here);
  if (next != nullptr) [[unlikely]]
    released = join_lists(next, released);
  const power_limits limits =
      power_.has_policy() ? power_.limits(length(released)) : power_limits{};
  const auto taken = state_.schedule.end_and_take(
      released, static_cast<unsigned>(std::max(here, 0)), by_strand, goal, limits);
  if (taken.promised != nullptr) taken.promised->set_value();
  if (taken.spawns > 0) spawn(taken.spawns);
  return taken.task;
}

bool graph_workers::help(std::size_t goal) noexcept {
  graph_task* task = state_.schedule.take(worker_here());
  if (task == nullptr) return false;
  while (task != nullptr) {
    runner_.run(*task);
    task = end_and_take(*task, false, goal);
  }
  return true;
}

void graph_workers::make_room(std::size_t goal) {
  while (state_.schedule.unfinished() > goal) {
    if (!help(goal)) wait_for_room(goal);
  }
}

void graph_workers::wait_for_room(std::size_t goal) {
  assert(strands_.exists());  // a plain thread runs all ready tasks, so one is always ready
  promise<void> room;
  future<void> told = room.get_future();
  if (state_.schedule.wait_for_room(room, goal)) told.get();
}

void graph_workers::spawn_for_ready(bool waits) noexcept {
  const power_limits limits = power_.limits(state_.schedule.ready());
  spawn(state_.schedule.spawn_for_ready(limits, waits));
}

/// Runs the ready tasks and has strands run the others.
void graph_workers::finish() noexcept {
  // A policy was told of tasks one by one while they were added, each perhaps not worth a worker.
  const bool tells_again = power_.has_policy() && strands_.has_task_stacks();
  if (tells_again && state_.schedule.ready() > 1) spawn_for_ready(false);
  help(0);
  if (strands_.exists()) spawn_for_ready(true);
}

// One round, unless there was no memory to spawn a strand.
void graph_workers::join() {
  do {
    finish();
    strands_.wait();
  } while (state_.schedule.unfinished() != 0);
}

void graph_workers::join_anyhow() noexcept {
  do {
    finish();
    strands_.join();
  } while (state_.schedule.unfinished() != 0);
}

std::exception_ptr graph_workers::end() noexcept {
  strands_.end();
  begun_ = false;
  state_.schedule.end();
  return state_.failure.take();
}

}  // namespace creek::linalg::detail

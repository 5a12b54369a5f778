// SPDX-License-Identifier: Apache-2.0
#include "graph_schedule.hpp"

#include <mutex>

#include "graph/records/block_turns.hpp"

namespace creek::linalg::detail {

void graph_schedule::begin(unsigned workers, bool with_strands, bool in_rounds) {
  ready_.set_workers(workers);
  strands_.begin(with_strands ? workers : 0, in_rounds);
}

void graph_schedule::end() noexcept {
  added_ = 0;
  finished_.store(0, std::memory_order_relaxed);
}

void graph_schedule::reserve(std::size_t tasks) {
  const std::lock_guard guard(lock_);
  ready_.reserve(tasks);
}

unsigned graph_schedule::publish(graph_task* task, power_limits limits) noexcept {
  graph_section turn = reports_.section();
  turn.queued();
  const std::lock_guard guard(lock_);
  ready_.push(task);
  ready_count_.store(ready_.size(), std::memory_order_relaxed);
  return strands_.count_spawns(limits, ready_.size());
}

void graph_schedule::refresh() noexcept {
  const std::lock_guard guard(lock_);
  ready_.refresh();
}

bool graph_schedule::wait_for_room(promise<void>& room, std::size_t goal) noexcept {
  const graph_section turn = reports_.section();
  const std::lock_guard guard(lock_);
  if (ready_.size() != 0 || unfinished() <= goal) return false;
  // Waking may cost more than a task, so not after each one.
  room_ = {&room, goal - goal / 8};
  strands_.let_enqueuer_wait(true);
  return true;
}

unsigned graph_schedule::spawn_for_ready(power_limits limits, bool waits) noexcept {
  const graph_section turn = reports_.section();
  const std::lock_guard guard(lock_);
  if (waits) strands_.let_enqueuer_wait(true);
  return strands_.count_spawns(limits, ready_.size());
}

graph_schedule::outcome graph_schedule::take_or_leave(unsigned here, unsigned max_awake) noexcept {
  outcome result;
  graph_section turn = reports_.section();
  const std::lock_guard guard(lock_);
  if (strands_.may_stay(max_awake)) result.task = pick(here);
  ready_count_.store(ready_.size(), std::memory_order_relaxed);
  if (result.task == nullptr) {
    strands_.leave();
  } else {
    turn.queued();
  }
  result.spawns = strands_.count_pending(max_awake, ready_.size());
  return result;
}

graph_task* graph_schedule::pick_in_turn(graph_task* task, unsigned here) noexcept {
  while (task != nullptr && task->commutes && !take_turns(*task)) task = ready_.pick(here);
  return task;
}

graph_task* graph_schedule::end_turns(graph_task& task) noexcept {
  const graph_section turn = reports_.section();
  const std::lock_guard guard(lock_);
  return release_turns(task);
}

void graph_schedule::spawn_failed() noexcept {
  const std::lock_guard guard(lock_);
  strands_.leave();
}

}  // namespace creek::linalg::detail

// SPDX-License-Identifier: Apache-2.0
// State of a graph that its threads share under one lock: ready tasks, numbers of unfinished tasks
// and of strands, and the promise for which the enqueuer waits. README.md of this module describes
// the protocol, and why no task is left behind.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>

#include <creek/core/threads/spin_lock.hpp>
#include <creek/tasking/future.hpp>

#include "graph/graph_reports.hpp"
#include "graph_power.hpp"
#include "ready_queues.hpp"
#include "strand_count.hpp"

namespace creek::linalg::detail {

/// The enqueuer waits for a promise until at most `goal` tasks are unfinished.
struct room_request {
  promise<void>* promised = nullptr;
  std::size_t goal = 0;
};

/// Each function that takes the lock is one section; the caller spawns, wakes and calls power
/// policies after it. Invariant: while the lock is free and tasks are ready, there is a strand, or
/// the enqueuer is about to look for tasks.
class graph_schedule {
 public:
  /// Work that a section leaves to its caller.
  struct outcome {
    graph_task* task = nullptr;         ///< to run next
    unsigned spawns = 0;                ///< strands to spawn
    promise<void>* promised = nullptr;  ///< to fulfil: there is room
  };

  explicit graph_schedule(const graph_reports& reports) noexcept : reports_(reports) {}

  /// Begins a graph on `workers` workers, with strands if there is a runtime. See strand_count.
  void begin(unsigned workers, bool with_strands, bool in_rounds);
  /// Ends it; all tasks have ended.
  void end() noexcept;

  // Calls by the enqueuer.
  /// Reserves room for `tasks` unfinished tasks at once.
  void reserve(std::size_t tasks);
  /// Counts an added task, before its first predecessor, or publish(), can see it.
  void count_added() noexcept { ++added_; }
  std::size_t unfinished() const noexcept {
    return added_ - finished_.load(std::memory_order_relaxed);
  }
  /// Makes a task with no pending predecessors ready; returns the strands to spawn.
  unsigned publish(graph_task* task, power_limits limits) noexcept;
  /// Takes a ready task, or returns nullptr.
  graph_task* take(unsigned here) noexcept;
  /// Reorders the ready tasks after the paths of tasks have changed.
  void refresh() noexcept;
  /// Has `room` fulfilled when most of the room is there. Returns false if the enqueuer need not
  /// wait.
  bool wait_for_room(promise<void>& room, std::size_t goal) noexcept;
  /// Returns the strands to spawn for all ready tasks; with `waits`, the enqueuer's worker is free
  /// from now on.
  unsigned spawn_for_ready(power_limits limits, bool waits) noexcept;
  std::size_t bytes() const noexcept { return ready_.bytes(); }

  // Calls by strands, and by the enqueuer that runs tasks.
  /// Returns the number of ready tasks without the lock: perhaps no longer true.
  std::size_t ready() const noexcept { return ready_count_.load(std::memory_order_relaxed); }
  /// Takes a task for a strand; without one the strand has left.
  outcome take_or_leave(unsigned here, unsigned max_awake) noexcept;
  /// Counts a task that has ended, makes its successors ready and takes the next task: for a strand
  /// that may stay, or for the enqueuer while more than `goal` tasks are unfinished.
  outcome end_and_take(graph_task* released, unsigned here, bool by_strand, std::size_t goal,
                       power_limits limits) noexcept;
  /// Ends the turns of a task that `commutes` and ran; returns the tasks whose turn it is, for
  /// end_and_take().
  graph_task* end_turns(graph_task& task) noexcept;
  /// Takes back a strand that was counted and could not be spawned.
  void spawn_failed() noexcept;

 private:
  /// Takes the best ready task whose turn it is, or returns nullptr. Under the lock.
  graph_task* pick(unsigned here) noexcept;
  /// Returns the task if it is its turn, or the next one for which that holds.
  graph_task* pick_in_turn(graph_task* task, unsigned here) noexcept;

  const graph_reports& reports_;
  std::size_t added_ = 0;  ///< the enqueuer's; others read it under the lock while it waits

  alignas(64) spin_lock lock_;
  // Guarded by the lock.
  ready_queues ready_;
  strand_count strands_;
  room_request room_;
  /// Changed under the lock, read without: number of finished tasks, and of ready ones.
  std::atomic<std::size_t> finished_{0};
  std::atomic<std::size_t> ready_count_{0};
};

// Defined here because they run once per task.

inline graph_task* graph_schedule::pick(unsigned here) noexcept {
  graph_task* const task = ready_.pick(here);
  return task != nullptr && task->commutes ? pick_in_turn(task, here) : task;
}

inline graph_schedule::outcome graph_schedule::end_and_take(graph_task* released, unsigned here,
                                                            bool by_strand, std::size_t goal,
                                                            power_limits limits) noexcept {
  outcome result;
  graph_section turn = reports_.section();
  const std::lock_guard guard(lock_);
  while (released != nullptr) {
    ready_.push(std::exchange(released, released->next));
    turn.queued();
  }
  finished_.store(finished_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  // A strand may read what was added only while the enqueuer waits, that is, with a promise.
  if (room_.promised != nullptr && unfinished() <= room_.goal) {
    result.promised = std::exchange(room_.promised, nullptr);
    strands_.let_enqueuer_wait(false);
  }
  if (by_strand ? strands_.may_stay(limits.max_awake) : unfinished() > goal) {
    result.task = pick(here);
    if (result.task != nullptr) turn.queued();
  }
  ready_count_.store(ready_.size(), std::memory_order_relaxed);
  result.spawns = strands_.count_spawns(limits, ready_.size());
  return result;
}

inline graph_task* graph_schedule::take(unsigned here) noexcept {
  graph_section turn = reports_.section();
  turn.queued();
  const std::lock_guard guard(lock_);
  graph_task* const task = pick(here);
  ready_count_.store(ready_.size(), std::memory_order_relaxed);
  return task;
}

}  // namespace creek::linalg::detail

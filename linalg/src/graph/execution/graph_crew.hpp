// SPDX-License-Identifier: Apache-2.0
// Runs the tasks of a graph on strands on the runtime's workers, spawned while there is work for
// them, and on the enqueuing thread when it has nothing better to do. README.md of this module
// describes the protocol, and why no task is left behind.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <optional>
#include <stop_token>

#include <creek/core/execution_observer.hpp>
#include <creek/core/measuring/clock.hpp>
#include <creek/core/threads/sanitizer.hpp>
#include <creek/core/threads/spin_lock.hpp>
#include <creek/tasking.hpp>

#include "graph_section.hpp"
#include "graph_task.hpp"
#include "ready_queues.hpp"

namespace creek::linalg::detail {

class graph_crew {
 public:
  explicit graph_crew(std::stop_token stop) : stop_(std::move(stop)) {}
  graph_crew(const graph_crew&) = delete;
  graph_crew& operator=(const graph_crew&) = delete;

  // Calls by the enqueuer: begin, (reserve, publish, help, wait_for_room)..., join, end.
  /// Binds the graph to the caller and the workers around it.
  void begin();
  bool has_begun() const noexcept { return begun_; }
  /// Throws usage_error if the caller is not the one that called begin().
  void require_caller(const char* what) const;
  unsigned workers() const noexcept { return workers_; }
  /// Reserves room for `tasks` unfinished tasks at once.
  void reserve(std::size_t tasks);
  /// Counts an added task. Called before its first predecessor, or publish(), can see the task.
  void count_added() noexcept { ++added_; }
  std::size_t unfinished() const noexcept {
    return added_ - finished_.load(std::memory_order_relaxed);
  }
  /// Makes a task with no pending predecessors ready. Also spawns strands.
  void publish(graph_task* task) noexcept;
  /// Runs tasks until at most `goal` are unfinished; the enqueuer waits if none is ready.
  void make_room(std::size_t goal);
  /// Reorders the ready tasks after the paths of tasks have changed.
  void refresh() noexcept;
  /// Runs all tasks and returns when the last strand has left.
  void join();
  /// Like join(), for a destructor: may be called on any thread and does not check the caller.
  void join_anyhow() noexcept;
  /// Returns the first exception; called after join().
  std::exception_ptr end() noexcept;
  /// Returns the observer of the graph, or nullptr.
  execution_observer* observer() const noexcept { return observer_; }
  /// Returns whether tasks run by the clock of a backend: see task_run::in_nanoseconds.
  bool has_own_clock() const noexcept;
  /// Begins a section in which the caller reads and changes shared state.
  graph_section section() const noexcept { return {observer_, lock_owner_}; }

  /// Returns the records of finished tasks, in no order, linked through `next`.
  graph_task* take_ended() noexcept {
    graph_task* const ended = ended_.exchange(nullptr, std::memory_order_acquire);
    sanitizer::acquired(&ended_);
    return ended;
  }
  /// Returns whether a task failed or was skipped; counts all tasks that the caller saw finish.
  bool has_failed() const noexcept { return failed_.load(std::memory_order_relaxed); }
  std::size_t skipped() const noexcept { return skipped_.load(std::memory_order_relaxed); }
  std::size_t bytes() const noexcept { return ready_.bytes(); }
  /// May be called on any thread.
  void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }
  bool is_cancelled() const noexcept {
    return cancelled_.load(std::memory_order_relaxed) || stop_.stop_requested();
  }

 private:
  /// A power policy's limits on spawning strands; without a policy nothing limits it.
  struct hiring {
    unsigned max_awake = ~0U;
    unsigned max_hires = ~0U;
  };
  /// Returns the maximum number of strands: the enqueuer at work takes one worker; but at least one
  /// strand, so that tasks run while the enqueuer waits for something else.
  unsigned max_strands(unsigned max_awake) const noexcept;
  unsigned max_awake() const noexcept;
  /// Called without the lock by the thread that makes tasks ready: a policy may do anything.
  hiring ask_policy(std::size_t made_ready) const noexcept;
  void tell_policy(const graph_task& task) const noexcept;
  unsigned count_hires(hiring limits) noexcept;
  unsigned count_owed(unsigned awake) noexcept;
  void report_reads(const graph_task& task) const noexcept;
  void report_work(const graph_task& task) const noexcept;
  ticks time_here() const noexcept;
  void hire(unsigned strands) noexcept;
  void hire_one() noexcept;
  /// Returns true if workers have no task stacks. Then their deques may hold only a few tasks, so a
  /// worker spawns a few strands and those spawn further ones. Nor does a strand spin for tasks:
  /// one thread may run all workers.
  bool spawns_in_rounds() const noexcept { return owner_ == nullptr; }
  void run_strand() noexcept;
  graph_task* take_or_leave() noexcept;

  bool help(std::size_t goal) noexcept;
  void wait_for_room(std::size_t goal);
  void hire_for_all() noexcept;
  void finish() noexcept;
  void wait_for_strands();
  void run_body(graph_task& task) noexcept;
  graph_task* end_and_take(graph_task& task, bool by_strand, std::size_t goal) noexcept;
  static graph_task* close(graph_task& task, int here, unsigned& edges) noexcept;
  void give_back(graph_task& task) noexcept;

  // Set by begin().
  bool begun_ = false;
  unsigned workers_ = 1;
  creek::ext::executor* home_ = nullptr;
  execution_observer* observer_ = nullptr;
  unsigned lock_owner_ = 0;  ///< the enqueuer's worker, for `observer_`
  power_policy* policy_ = nullptr;
  const creek::ext::task_stack* owner_ = nullptr;
  std::optional<task_group> group_;  ///< the strands; empty outside a runtime
  std::size_t added_ = 0;  ///< the enqueuer's; others read it under the lock while it waits

  alignas(64) spin_lock lock_;
  // Guarded by the lock.
  ready_queues ready_;
  unsigned pending_spawns_ = 0;    ///< see spawns_in_rounds(): left to spawn by strands
  unsigned strands_ = 0;           ///< spawned and not left, whether they have begun or not
  bool parked_ = false;            ///< the enqueuer waits, so its worker is free
  promise<void>* room_ = nullptr;  ///< ... until at most `wake_at_` are unfinished
  std::size_t wake_at_ = 0;
  /// Changed under the lock, read without: number of finished tasks, and of ready ones.
  std::atomic<std::size_t> finished_{0};
  std::atomic<std::size_t> ready_count_{0};

  alignas(64) std::atomic<graph_task*> ended_{nullptr};
  alignas(64) std::atomic<bool> cancelled_{false};
  std::atomic<bool> failed_{false};
  std::atomic<std::size_t> skipped_{0};
  std::stop_token stop_;
  creek::ext::error_slot error_;
};

}  // namespace creek::linalg::detail

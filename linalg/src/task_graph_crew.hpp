// SPDX-License-Identifier: Apache-2.0
// Who runs the tasks of a graph: strands on the workers of the runtime, hired while there is work
// for them, and the one who enqueues, when it has nothing better to do. The protocol, and why
// nothing is left lying: README.md of this module.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <optional>
#include <stop_token>

#include <creek/core/clock.hpp>
#include <creek/core/sanitizer.hpp>
#include <creek/core/spin_lock.hpp>
#include <creek/tasking.hpp>

#include "graph_task.hpp"
#include "ready_queues.hpp"

namespace creek::linalg::detail {

class graph_crew {
 public:
  explicit graph_crew(std::stop_token stop) : stop_(std::move(stop)) {}
  graph_crew(const graph_crew&) = delete;
  graph_crew& operator=(const graph_crew&) = delete;

  // By the enqueuer, in this order: begin, (reserve, publish, help, wait_for_room)..., join, end.
  /// Binds the graph to the caller and the workers around it.
  void begin();
  bool has_begun() const noexcept { return begun_; }
  /// Throws usage_error if the caller is not the one that began.
  void require_caller(const char* what) const;
  unsigned workers() const noexcept { return workers_; }
  /// So many tasks may be unfinished at once.
  void reserve(std::size_t tasks);
  /// A task was added. Before its first predecessor, or publish(), can see it.
  void count_added() noexcept { ++added_; }
  std::size_t unfinished() const noexcept {
    return added_ - finished_.load(std::memory_order_relaxed);
  }
  /// The task may run: nothing is pending. Also hires.
  void publish(graph_task* task) noexcept;
  /// Runs tasks until at most `goal` are unfinished, the enqueuer waiting if none is ready.
  void make_room(std::size_t goal);
  /// The paths of tasks have changed: orders those that are ready anew.
  void refresh() noexcept;
  /// Runs all tasks, until the last strand has left.
  void join();
  /// As join() for a destructor: on any thread, and without looking who calls.
  void join_anyhow() noexcept;
  /// After join(): the first exception.
  std::exception_ptr end() noexcept;
  /// Where time is simulated: what workers share is changed in its order. Else null.
  creek::detail::simulated_order* order() const noexcept { return order_; }

  /// Records of tasks that have ended, in no order, through `next`.
  graph_task* take_ended() noexcept {
    graph_task* const ended = ended_.exchange(nullptr, std::memory_order_acquire);
    sanitizer::acquired(&ended_);
    return ended;
  }
  /// Some task has failed or was skipped. What the caller saw end counts.
  bool has_failed() const noexcept { return failed_.load(std::memory_order_relaxed); }
  std::size_t skipped() const noexcept { return skipped_.load(std::memory_order_relaxed); }
  std::size_t bytes() const noexcept { return ready_.bytes(); }
  /// Any thread.
  void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }
  bool is_cancelled() const noexcept {
    return cancelled_.load(std::memory_order_relaxed) || stop_.stop_requested();
  }

 private:
  friend class graph_section;
  /// What a power policy says of hiring; without one, that nothing limits it.
  struct hiring {
    unsigned most_awake = ~0U;
    unsigned most_hires = ~0U;
  };
  /// Strands there may be: with the enqueuer at work, one worker is its own; but one strand at
  /// least, so that tasks run while the enqueuer waits for something else.
  unsigned most_strands(unsigned most_awake) const noexcept;
  unsigned most_awake() const noexcept;
  /// Before the lock is taken, by who makes tasks ready: a policy may do as it likes.
  hiring ask_policy(std::size_t made_ready) const noexcept;
  void tell_policy(const graph_task& task) const noexcept;
  unsigned count_hires(hiring limits) noexcept;
  unsigned count_owed(unsigned awake) noexcept;
  static void charge_reads(const graph_task& task) noexcept;
  static void charge_work(const graph_task& task) noexcept;
  ticks time_here() const noexcept;
  void hire(unsigned strands) noexcept;
  void hire_one() noexcept;
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
  creek::detail::executor* home_ = nullptr;
  creek::detail::simulated_order* order_ = nullptr;  ///< null: the host's memory is
  unsigned lock_owner_ = 0;                          ///< of `order_`: the enqueuer's worker
  power_policy* policy_ = nullptr;
  const creek::detail::task_stack* owner_ = nullptr;
  std::optional<task_group> group_;  ///< the strands; none outside of a runtime
  std::size_t added_ = 0;  ///< the enqueuer's; read by others under the lock while it waits

  alignas(64) spin_lock lock_;
  // Under the lock.
  ready_queues ready_;
  unsigned owed_hires_ = 0;        ///< with `order_`: left to the strands that were hired
  unsigned strands_ = 0;           ///< hired and not left, whether they have begun or not
  bool parked_ = false;            ///< the enqueuer waits: its worker is free
  promise<void>* room_ = nullptr;  ///< ... until at most `wake_at_` are unfinished
  std::size_t wake_at_ = 0;
  /// Changed under the lock, read without: how many have ended, and whether looking pays.
  std::atomic<std::size_t> finished_{0};
  std::atomic<std::size_t> ready_count_{0};

  alignas(64) std::atomic<graph_task*> ended_{nullptr};
  alignas(64) std::atomic<bool> cancelled_{false};
  std::atomic<bool> failed_{false};
  std::atomic<std::size_t> skipped_{0};
  std::stop_token stop_;
  creek::detail::error_slot error_;
};

/// While one lives the caller looks at and changes what the crew shares. Where time is simulated it
/// has waited for its turn, and pays at the end for the words that it has touched; spawning,
/// waiting and power policies have to wait until after that.
class graph_section {
 public:
  explicit graph_section(const graph_crew& of) noexcept : of_(&of) {
    if (of.order_ != nullptr) [[unlikely]]
      of.order_->enter(of.lock_owner_);
  }
  ~graph_section() {
    if (of_->order_ != nullptr) [[unlikely]]
      of_->order_->leave(of_->lock_owner_, words_);
  }
  graph_section(const graph_section&) = delete;
  graph_section& operator=(const graph_section&) = delete;
  void touch(unsigned words) noexcept { words_ += words; }

 private:
  const graph_crew* of_;
  unsigned words_ = 2;  ///< the number of unfinished tasks, the number of ready ones
};

}  // namespace creek::linalg::detail

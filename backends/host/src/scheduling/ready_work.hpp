// SPDX-License-Identifier: Apache-2.0
// Work that waits for a worker.
#pragma once

#include <cstddef>

#include <creek/tasking/ext/executor.hpp>

#include "external_deques.hpp"
#include "fibers/parked_strands.hpp"
#include "idle/waker.hpp"
#include "intrusive_queue.hpp"

namespace creek::host_backend {

using submission_queue = intrusive_queue<ext::submitted_task, &ext::submitted_task::queued_behind>;

/// Submitted tasks, a queue for each priority. Any thread.
class submission_queues {
 public:
  void push(ext::submitted_task& task) noexcept { of(task.level).push(task); }
  /// Returns the oldest task of a priority, or null.
  ext::submitted_task* pop(priority level) noexcept { return of(level).pop(); }
  bool any_high() const noexcept { return !high_.empty(); }
  bool any_low() const noexcept { return !low_.empty(); }
  bool any_not_normal() const noexcept { return any_high() || any_low(); }
  std::size_t size_but_low() const noexcept { return std::size_t{high_.size()} + normal_.size(); }

 private:
  submission_queue& of(priority level) noexcept {
    return level == priority::normal ? normal_ : level == priority::high ? high_ : low_;
  }
  alignas(64) submission_queue normal_;
  alignas(64) submission_queue high_, low_;
};

/// Returns whether the slot holds the task of a future (async(), then()), which belongs to no
/// other.
inline bool is_of_future(const ext::task_slot& slot) noexcept {
  constexpr std::uintptr_t owned = ext::task_slot::owner_mask | ext::task_slot::hole_bit;
  return slot.is_spawned() && (slot.owner_word() & owned) == 0;
}

/// The places where work waits that any worker may take, and the wake-up for it. Each function that
/// adds work makes it visible first and then wakes a worker if one sleeps, so no task is ready
/// while all workers sleep. Any thread.
class ready_work {
 public:
  explicit ready_work(worker_set& workers) : waker_(workers), deques_(workers.options()) {}

  void submit(ext::submitted_task& task) noexcept {
    outside_.fetch_add(1, std::memory_order_seq_cst);
    submissions_.push(task);
    waker_.work_available();
  }
  /// Queues a strand that has been resumed, at the worker that is to continue it.
  void make_ready(worker& queue, fiber& resumed) noexcept {
    queue.ready.push(resumed);
    waker_.work_available();
  }
  /// Lists a strand that is about to be published and has tasks that have not started.
  void park(fiber& suspended) noexcept {
    parked_.add(suspended);
    waker_.work_available();
  }
  /// Offers all tasks of the running strand to thieves.
  void offer_all(ext::task_stack& stack) noexcept {
    if (deques_.offer_all(stack)) waker_.work_available();
  }

  /// Called when a submitted task has ended.
  void submitted_ended() noexcept { outside_.fetch_sub(1, std::memory_order_release); }
  /// Counts a task as submitted that the caller is going to run, if there is no other.
  [[nodiscard]] bool begin_alone() noexcept {
    std::uint64_t none = 0;
    return outside_.compare_exchange_strong(none, 1, std::memory_order_seq_cst);
  }
  /// Returns the number of submitted tasks that have not ended. Raised before a task can be found.
  std::uint64_t outside() const noexcept { return outside_.load(std::memory_order_seq_cst); }

  /// Notes that a task of a future begins: it may outlive the run() in which it was made.
  void future_begins() noexcept { has_futures_.store(true, std::memory_order_relaxed); }
  /// Returns whether one has begun since forget_futures(); for who has found a task that it made.
  bool has_futures() const noexcept { return has_futures_.load(std::memory_order_relaxed); }
  /// Called while nothing is under way.
  void forget_futures() noexcept { has_futures_.store(false, std::memory_order_relaxed); }

  /// Returns true while a worker sleeps or is about to: running strands are armed or guarded
  /// then.
  bool maybe_sleepers() const noexcept { return waker_.state().maybe_sleepers(); }
  waker& waking() noexcept { return waker_; }
  const waker& waking() const noexcept { return waker_; }
  submission_queues& submissions() noexcept { return submissions_; }
  parked_strands& parked() noexcept { return parked_; }
  task_deques& deques() noexcept { return deques_; }

 private:
  waker waker_;
  task_deques deques_;
  submission_queues submissions_;
  parked_strands parked_;
  alignas(64) std::atomic<std::uint64_t> outside_{0};
  std::atomic<bool> has_futures_{false};
};

}  // namespace creek::host_backend

// SPDX-License-Identifier: Apache-2.0
// The end of a scheduler.
#pragma once

#include <atomic>
#include <cstdint>

#include "messages/message_service.hpp"

namespace creek::host_backend {

/// Decides when a scheduler that was asked to stop has finished: all workers sleep, no strand is
/// suspended, no message is under way and no object exists. A worker that leaves its sleep says so
/// before it takes any work; if one did between the checks, their result is void.
class shutdown {
 public:
  shutdown(ext::executor& home, worker_set& workers, waker& waking,
           message_service& messages) noexcept
      : home_(home), workers_(workers), waker_(waking), messages_(messages) {}

  /// Has the workers end once all work is finished; the caller then wakes those that sleep.
  void request() noexcept { requested_.store(true, std::memory_order_seq_cst); }
  bool requested() const noexcept { return requested_.load(std::memory_order_acquire); }
  /// Ends the workers.
  void finish() noexcept {
    finished_.store(true, std::memory_order_seq_cst);
    waker_.wake_all();
  }
  bool finished() const noexcept { return finished_.load(std::memory_order_acquire); }
  /// The same, ordered with the caller's earlier announcement that it sleeps.
  bool finished_before_sleep() const noexcept { return finished_.load(std::memory_order_seq_cst); }

  /// Called by a worker when it falls asleep. The last one to do so finishes the scheduler if
  /// nothing is left.
  void try_finish() noexcept;
  /// Called by a worker that has left its sleep, before it touches the awaited work.
  void sleep_ended() noexcept { sleeps_ended_.fetch_add(1, std::memory_order_seq_cst); }
  /// Returns how often a worker has left its sleep.
  std::uint64_t sleeps_ended() const noexcept {
    return sleeps_ended_.load(std::memory_order_seq_cst);
  }
  /// Returns whether any strand is suspended; exact while all workers sleep.
  bool any_suspended() const noexcept { return workers_.suspended_strands() != 0; }
  /// Returns whether a suspended strand waits for an event from outside the runtime.
  bool any_waits_outside() const noexcept { return home_.any_waits_outside(); }

 private:
  bool is_quiet() noexcept;

  ext::executor& home_;
  worker_set& workers_;
  waker& waker_;
  message_service& messages_;
  std::atomic<std::uint64_t> sleeps_ended_{0};
  std::atomic<bool> requested_{false};
  std::atomic<bool> finished_{false};
};

}  // namespace creek::host_backend

// SPDX-License-Identifier: Apache-2.0
// Wakes workers for whom there is work.
#pragma once

#include <creek/core/threads/asymmetric_fence.hpp>
#include <creek/core/threads/futex.hpp>

#include "idle_state.hpp"
#include "workers/power_governor.hpp"
#include "workers/worker_set.hpp"

namespace creek::host_backend {

/// The producer's side of the idle protocol (README.md, "Sleeping and waking"). Callers make the
/// work visible first; the fences here order that before the look at the sleepers. While no worker
/// sleeps, each call costs a fence of the compiler and a load. Any thread.
class waker {
 public:
  explicit waker(worker_set& workers)
      : workers_(workers),
        governor_(workers.options(), workers.consumers()),
        state_(workers.consumers()) {}

  idle_state& state() noexcept { return state_; }
  const idle_state& state() const noexcept { return state_; }
  power_governor& governor() noexcept { return governor_; }
  /// Wakes a worker for work that any of them can do.
  void work_available() noexcept {
    // A worker that registers after this load looks at everything behind a heavy fence.
    light_fence();
    if (!state_.maybe_sleepers()) return;
    full_fence();
    wake_one();
  }
  /// The step "wake one"; the caller has passed a full fence. Returns true if one was woken.
  bool wake_one() noexcept {
    const bool limited = governor_.policy() != nullptr;
    return state_.wake_one(limited ? governor_.min_asleep_after_ready(workers_.index_of_caller())
                                   : 0);
  }
  /// Returns which pushes of the running strands have to be announced.
  ext::announced_pushes announced() const noexcept {
    using enum ext::announced_pushes;
    if (!state_.maybe_sleepers()) return none;
    return governor_.policy() != nullptr ? all : oldest;
  }
  /// Called after something was left for `target` alone: wakes it if it sleeps. Returns true if it
  /// slept.
  bool call(worker& target) noexcept {
    light_fence();
    if (!target.asleep.load(std::memory_order_relaxed)) return false;
    if (target.serves_only) {
      ring(target);
    } else {
      state_.call(target.index);
    }
    return true;
  }
  /// Asks one searching worker to sleep, so that the next caller of run() finds a vacant place.
  void ask_for_place() noexcept { place_wanted_.store(true, std::memory_order_relaxed); }
  /// Returns whether the calling searcher is the one.
  [[nodiscard]] bool is_asked_for_place() noexcept {
    return place_wanted_.load(std::memory_order_relaxed) &&
           place_wanted_.exchange(false, std::memory_order_relaxed);
  }
  /// Wakes every worker that takes tasks.
  void wake_consumers() noexcept { state_.wake_all(); }
  /// Wakes every worker.
  void wake_all() noexcept {
    wake_consumers();
    for (worker& each : workers_) {
      if (each.serves_only) ring(each);
    }
  }

 private:
  /// Wakes a worker that serves only: idle_state does not count it, since a permit is for any task.
  static void ring(worker& target) noexcept {
    target.rings.fetch_add(1, std::memory_order_seq_cst);
    futex_wake(target.rings, 1);
  }

  worker_set& workers_;
  power_governor governor_;
  std::atomic<bool> place_wanted_{false};
  alignas(64) idle_state state_;
};

}  // namespace creek::host_backend

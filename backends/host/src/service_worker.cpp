// SPDX-License-Identifier: Apache-2.0
// A worker that takes no tasks (scheduler_options::serve_only): how it waits for calls. idle_state
// does not count it, since a wake-up granted there is for any task; it sleeps on a word of its own,
// and only a message for it, or the end, wakes it.
#include <algorithm>
#include <chrono>

#include <creek/core/asymmetric_fence.hpp>
#include <creek/core/clock.hpp>

#include "scheduler.hpp"

namespace creek::host_backend {

/// Like idle(), and by the same policies, but for a worker that takes no tasks.
scheduler::found_work scheduler::await_calls(worker& self) {
  trace::begin(self.track.load(std::memory_order_acquire), "idle");
  found_work work;
  while (!work && !finished_.load(std::memory_order_acquire)) {
    const ticks start = tick_clock::now();
    const idle_plan plan = plan_wait(self);
    const ticks limit = tick_clock::from_nanoseconds(plan.search);
    ticks yield_at{};
    for (ticks waited{}; !work && waited <= limit; waited = tick_clock::now() - start) {
      yield_now_and_then(waited, yield_at);
      work = search(self, false);
      if (!work) work.letters = pause_for_letters(self);
    }
    if (work) break;
    if (stopping_.load(std::memory_order_acquire) || plan.how == idle_policy::block) {
      sleep_until_called(self);
    } else if (plan.how == idle_policy::backoff) {
      work = nap(self);
    } else if (oversubscribed_) {
      std::this_thread::yield();
    }
  }
  trace::end(self.track.load(std::memory_order_acquire));
  return work;
}

void scheduler::sleep_until_called(worker& self) noexcept {
  self.asleep.store(true, std::memory_order_relaxed);
  // From here on a sender either sees `asleep`, or its message is seen below.
  heavy_fence();
  if (stopping_.load(std::memory_order_acquire)) try_finish(self);
  self.counters.add(counter::parks);
  for (;;) {
    const std::uint32_t rung = self.rings.load(std::memory_order_acquire);
    if (has_letters(self) || finished_.load(std::memory_order_seq_cst)) break;
    futex_wait(self.rings, rung);
  }
  self.counters.add(counter::wakes);
  sleeps_ended_.fetch_add(1, std::memory_order_seq_cst);
  self.asleep.store(false, std::memory_order_relaxed);
}

/// Wakes a worker that serves only, if it sleeps.
void scheduler::ring(worker& target) noexcept {
  target.rings.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(target.rings, 1);
}

bool scheduler::service_workers_sleep() const noexcept {
  return std::all_of(workers_.begin(), workers_.end(), [](const auto& each) {
    return !each->serves_only || each->asleep.load(std::memory_order_seq_cst);
  });
}

}  // namespace creek::host_backend

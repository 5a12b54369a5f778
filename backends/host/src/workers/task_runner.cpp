// SPDX-License-Identifier: Apache-2.0
// Runs tasks.
#include "task_runner.hpp"

#include <chrono>

#include <creek/core/measuring/clock.hpp>

namespace creek::host_backend {

namespace {

/// A stolen task shorter than this costs its owner more than it saves.
constexpr std::chrono::nanoseconds worth_stealing{500};

}  // namespace

ext::strand* task_runner::run_stolen(fiber& self, ext::task_slot* slot) noexcept {
  trace::begin(self.on->track.load(std::memory_order_acquire), "stolen");
  const ticks start = tick_clock::now();
  // After a worthwhile task, thieves find this one's first task without asking.
  if (self.on->small_steals == 0) self.tasks.share_next();
  ext::strand* released = ext::run_stolen(slot);
  const bool small = tick_clock::now() - start < tick_clock::from_nanoseconds(worth_stealing);
  self.on->small_steals = small ? self.on->small_steals + 1 : 0;
  return released;
}

ext::strand* task_runner::run(fiber& self, found_work work) noexcept {
  self.on->counters.add(counter::tasks);
  governor_.task_begins(self.on->index);
  ext::strand* released = nullptr;
  if (ext::task_slot* slot = work.slot()) {
    if (is_of_future(*slot)) work_.future_begins();
    released = run_stolen(self, slot);
  } else {
    trace::begin(self.on->track.load(std::memory_order_acquire), "submitted");
    work.task()->run(work.task());
    work_.submitted_ended();
  }
  trace::end(self.on->track.load(std::memory_order_acquire));
  return released;
}

}  // namespace creek::host_backend

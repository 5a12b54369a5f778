// SPDX-License-Identifier: Apache-2.0
// Runs tasks.
#include "task_runner.hpp"

#include <chrono>

#include <creek/core/measuring/clock.hpp>

namespace creek::host_backend {

namespace {

/// A stolen task shorter than this costs its owner more than it saves.
constexpr std::chrono::nanoseconds worth_stealing{500};

/// Returns task_type::name of the task in a slot, or null if a thief has begun it.
const char* kind_of(const ext::task_slot& slot) noexcept {
  const std::uintptr_t word = slot.state.load(std::memory_order_relaxed);
  if ((word & ext::slot_state::flag) != 0) return nullptr;
  return reinterpret_cast<const ext::task_type*>(word)->name;
}
/// Returns the same of a slot or a submitted task, or null.
const char* kind_of(const found_work& work) noexcept {
  return work.slot() != nullptr ? kind_of(*work.slot()) : work.task()->name;
}

}  // namespace

ext::strand* task_runner::run_stolen(fiber& self, ext::task_slot* slot) noexcept {
  const ticks start = tick_clock::now();
  // After a worthwhile task, thieves find this one's first task without asking.
  if (self.on->small_steals == 0) self.tasks.share_next();
  ext::strand* released = ext::run_stolen(slot);
  const bool small = tick_clock::now() - start < tick_clock::from_nanoseconds(worth_stealing);
  self.on->small_steals = small ? self.on->small_steals + 1 : 0;
  return released;
}

bool task_runner::run_newest_recorded(fiber& self, ext::task_stack& from,
                                      ext::task_slot* bottom) noexcept {
  const bool charges = self.on->recording()->profiles() && from.next_slot() > bottom;
  task_times times;
  if (charges) self.on->recording()->charge_task(times, kind_of(from.next_slot()[-1]));
  const bool ran = from.run_newest(bottom);
  if (charges) self.on->recording()->task_charged(ran);
  return ran;
}

ext::strand* task_runner::run(fiber& self, found_work work) noexcept {
  self.on->counters.add(counter::tasks);
  ext::follow_others();
  governor_.task_begins(self.on->index);
  task_times times;
  if (recorder* const records = self.on->recording()) [[unlikely]]
    records->task_begins(times, kind_of(work), work.slot() != nullptr);
  ext::strand* released = nullptr;
  if (ext::task_slot* slot = work.slot()) {
    if (is_of_future(*slot)) work_.future_begins();
    released = run_stolen(self, slot);
  } else {
    work.task()->run(work.task());
    work_.submitted_ended();
  }
  if (recorder* const records = self.on->recording()) [[unlikely]]
    records->task_ends();
  return released;
}

}  // namespace creek::host_backend

// SPDX-License-Identifier: Apache-2.0
// The steps of a sleeper. README.md of this module names every one that the protocol relies on.
#include "sleep_protocol.hpp"

#include <algorithm>

#include <creek/core/threads/asymmetric_fence.hpp>

namespace creek::host_backend {

void sleep_protocol::arm_all() noexcept {
  if (work_.deques().external()) return;
  for (worker& each : workers_) {
    if (auto* stack = each.active.load(std::memory_order_acquire)) stack->arm();
  }
}

bool sleep_protocol::all_armed() const noexcept {
  return std::all_of(workers_.begin(), workers_.end(), [](const worker& each) {
    const auto* stack = each.active.load(std::memory_order_acquire);
    return stack == nullptr || stack->is_armed();
  });
}

found_work sleep_protocol::sleep(worker& self) noexcept {
  waker_.state().begin_sleep();
  return sleep_begun(self, false);
}

void sleep_protocol::begin(worker& self) noexcept {
  if (waker_.state().regain(self.place)) take_permit(self);
  awake(self);
}

found_work sleep_protocol::rest(worker& self) noexcept {
  if (!waker_.state().begin_rest(waker_.governor().min_asleep())) return search_.at_last(self);
  return sleep_begun(self, true);
}

found_work sleep_protocol::sleep_begun(worker& self, bool rests) noexcept {
  self.asleep.store(true, std::memory_order_relaxed);
  arm_all();
  // From here on a push either sees its limit armed, or is seen by the checks below.
  heavy_fence();
  const bool stay = (!rests && (search_.any_work() || !all_armed())) ||
                    messages_.has_messages(self) || shutdown_.finished_before_sleep();
  if (stay && waker_.state().cancel_sleep()) {
    search_.force_victims(self);
  } else {
    if (shutdown_.requested()) shutdown_.try_finish();
    self.counters.add(counter::parks);
    if (recorder* const records = self.recording()) records->becomes(recorder::idle::sleeping);
    take_permit(self);
    self.counters.add(counter::wakes);
  }
  awake(self);
  if (self.kept) return std::exchange(self.kept, {});
  // Another worker may have been woken while this one changed its mind.
  if (too_many_awake()) return search_.for_itself_alone(self);
  return search_.at_last(self);
}

void sleep_protocol::take_permit(worker& self) noexcept {
  const auto called = [&] { return messages_.has_messages(self); };
  const auto sleep = [this](const auto& word, std::uint32_t expected, std::uint32_t bits) {
    hangs_.sleep(word, expected, bits);
  };
  if (self.borrowed != nullptr) {
    waker_.state().take_permit(self.index, called, sleep);
  } else {
    waker_.state().take_permit(self.index, self.place, called, sleep);
  }
}

void sleep_protocol::sleep_until_called(worker& self) noexcept {
  self.asleep.store(true, std::memory_order_relaxed);
  // From here on a sender either sees `asleep`, or its message is seen below.
  heavy_fence();
  if (shutdown_.requested()) shutdown_.try_finish();
  self.counters.add(counter::parks);
  if (recorder* const records = self.recording()) records->becomes(recorder::idle::sleeping);
  for (;;) {
    const std::uint32_t rung = self.rings.load(std::memory_order_acquire);
    if (messages_.has_messages(self) || shutdown_.finished_before_sleep()) break;
    hangs_.sleep(self.rings, rung, ~0U);
  }
  self.counters.add(counter::wakes);
  awake(self);
}

/// Called before the worker touches the work that it was woken for.
void sleep_protocol::awake(worker& self) noexcept {
  shutdown_.sleep_ended();
  ext::follow_others();  // another thread may have acted as this worker
  self.asleep.store(false, std::memory_order_relaxed);
  if (recorder* const records = self.recording()) records->becomes(recorder::idle::searching);
}

}  // namespace creek::host_backend

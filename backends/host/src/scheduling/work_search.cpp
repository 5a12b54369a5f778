// SPDX-License-Identifier: Apache-2.0
// Looks for work.
#include "work_search.hpp"

#include <algorithm>

namespace creek::host_backend {

using ext::stealable_stack;

found_work work_search::for_itself_alone(worker& self) noexcept {
  found_work work;
  work.resumed = self.bound.pop();
  if (!work) work.messages = messages_.has_messages(self);
  return work;
}

found_work work_search::without_stealing(worker& self) noexcept {
  found_work work;
  work.resumed = self.bound.pop();
  if (self.serves_only) return work;
  if (!work) work.resumed = self.ready.pop();
  if (!work) work.task = work_.submissions().pop();
  return work;
}

found_work work_search::from_victim(worker& self, unsigned index, bool ask) noexcept {
  found_work work;
  worker& victim = workers_[index];
  self.counters.add(counter::steals_tried);
  if (stealable_stack* stack = victim.active.load(std::memory_order_acquire)) {
    const steal_result outcome = work_.deques().steal(*stack, work.slot);
    if (outcome != steal_result::taken && ask) stack->ask();
  }
  if (!work) work.resumed = victim.ready.pop();
  if (work) {
    self.victims.had_work(index);
    self.counters.add(counter::steals_won);
  }
  return work;
}

found_work work_search::from_parked(worker& self) noexcept {
  found_work work;
  const bool won = work_.parked().any_of([&](fiber& suspended) {
    return !(self.serves_only && suspended.parked != &self) &&
           work_.deques().steal(suspended.tasks, work.slot) == steal_result::taken;
  });
  if (won) self.counters.add(counter::steals_won);
  return work;
}

found_work work_search::everywhere(worker& self, bool ask) noexcept {
  found_work work;
  work.messages = messages_.has_messages(self) && self.bound.empty();
  if (!work) work = without_stealing(self);
  if (work) return work;
  if (self.serves_only) return from_parked(self);
  if ((work.slot = work_.deques().take_shared()) != nullptr) return work;
  work = from_parked(self);
  for (unsigned attempt = 0; !work && attempt < self.victims.others(); ++attempt) {
    work = from_victim(self, self.victims.next(attempt), ask);
  }
  return work;
}

bool work_search::any_work() noexcept {
  task_deques& deques = work_.deques();
  if (!work_.submissions().empty() || deques.any_shared()) return true;
  for (worker& each : workers_) {
    if (!each.ready.empty()) return true;
    const stealable_stack* stack = each.active.load(std::memory_order_acquire);
    if (stack != nullptr && deques.has_work(*stack)) return true;
  }
  return work_.parked().any_of([&](fiber& suspended) { return deques.has_work(suspended.tasks); });
}

bool work_search::force_victims(worker& self) noexcept {
  if (work_.deques().external()) return false;
  bool shared = false;
  for (worker& each : workers_) {
    stealable_stack* stack = each.active.load(std::memory_order_acquire);
    if (&each == &self || stack == nullptr || !stack->has_work()) continue;
    if (stack->force_share()) {
      shared = true;
      self.counters.add(counter::forced_shares);
    }
  }
  return shared;
}

}  // namespace creek::host_backend

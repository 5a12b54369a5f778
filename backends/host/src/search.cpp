// SPDX-License-Identifier: Apache-2.0
// Places where a worker looks for work: its own ready strands, the inbox, other workers' deques and
// ready strands, and deques of suspended strands.
#include "external_deques.hpp"
#include "scheduler.hpp"

namespace creek::host_backend {

using detail::task_slot;
using detail::task_stack;

void fiber_queue::push(fiber& added) noexcept {
  added.link = nullptr;
  lock_.lock();
  (tail_ != nullptr ? tail_->link : head_) = &added;
  tail_ = &added;
  count_.fetch_add(1, std::memory_order_release);
  lock_.unlock();
}

fiber* fiber_queue::pop() noexcept {
  if (empty()) return nullptr;
  lock_.lock();
  fiber* taken = head_;
  if (taken != nullptr) {
    head_ = taken->link;
    if (head_ == nullptr) tail_ = nullptr;
    count_.fetch_sub(1, std::memory_order_relaxed);
  }
  lock_.unlock();
  return taken;
}

detail::submitted_task* scheduler::pop_inbox() noexcept {
  if (inbox_count_.load(std::memory_order_acquire) == 0) return nullptr;
  inbox_lock_.lock();
  detail::submitted_task* taken = inbox_head_;
  if (taken != nullptr) {
    inbox_head_ = taken->queued_behind;
    if (inbox_head_ == nullptr) inbox_tail_ = nullptr;
    inbox_count_.fetch_sub(1, std::memory_order_relaxed);
  }
  inbox_lock_.unlock();
  return taken;
}

void scheduler::submit(detail::submitted_task* task) {
  const visit here(visitors_, worker_index() < 0);
  task->queued_behind = nullptr;
  inbox_lock_.lock();
  (inbox_tail_ != nullptr ? inbox_tail_->queued_behind : inbox_head_) = task;
  inbox_tail_ = task;
  inbox_count_.fetch_add(1, std::memory_order_release);
  inbox_lock_.unlock();
  work_available();
}

/// Returns work that no other worker can do: strands that stay here, and messages.
scheduler::found_work scheduler::for_itself_alone(worker& self) noexcept {
  found_work work;
  work.resumed = self.bound.pop();
  if (!work) work.letters = has_letters(self);
  return work;
}

scheduler::found_work scheduler::own_work(worker& self) noexcept {
  found_work work;
  work.letters = has_letters(self) && self.bound.empty();
  return work ? work : taken_back(self);
}

/// Returns a strand that goes on here, or a task from outside.
scheduler::found_work scheduler::taken_back(worker& self) noexcept {
  found_work work;
  work.resumed = self.bound.pop();
  if (self.serves_only) return work;
  if (!work) work.resumed = self.ready.pop();
  if (!work) work.task = pop_inbox();
  return work;
}

task_slot* scheduler::steal_from(task_stack& stack) noexcept {
  if (!external_) return detail::steal(stack);
  if (shared_) return nullptr;  // looked at once per search, not once per victim
  return fiber_of(&stack)->mpb->steal();
}

unsigned scheduler::next_victim(worker& self, unsigned attempt) noexcept {
  const auto others = static_cast<unsigned>(workers_.size()) - 1;
  switch (options_.scheduler) {
    case scheduler_kind::stealing_last_victim:
      if (attempt == 0 && self.last_victim != self.index) return self.last_victim;
      break;
    case scheduler_kind::stealing_latency:
      return self.near_first[attempt % others];
    default:
      break;
  }
  const auto pick = static_cast<unsigned>(self.random() % others);
  return pick < self.index ? pick : pick + 1;
}

scheduler::found_work scheduler::from_victim(worker& self, unsigned index, bool ask) noexcept {
  found_work work;
  worker& victim = *workers_[index];
  self.counters.add(counter::steals_tried);
  if (task_stack* stack = victim.active.load(std::memory_order_acquire)) {
    work.slot = steal_from(*stack);
    if (!work && ask) detail::ask(*stack);
  }
  if (!work) work.resumed = victim.ready.pop();
  if (work) {
    self.last_victim = index;
    self.counters.add(counter::steals_won);
  }
  return work;
}

/// Looks at suspended strands. A worker that serves only takes just the tasks that waiting calls on
/// it have left: it has listed them itself, so it need not be woken for them.
scheduler::found_work scheduler::from_parked(worker& self) noexcept {
  found_work work;
  if (parked_count_.load(std::memory_order_acquire) == 0) return work;
  parked_lock_.lock();
  for (fiber* suspended : parked_) {
    if (self.serves_only && suspended->parked != &self) continue;
    work.slot = steal_from(suspended->tasks);
    if (work) break;
  }
  parked_lock_.unlock();
  if (work) self.counters.add(counter::steals_won);
  return work;
}

/// Looks everywhere once; `ask` asks victims that have nothing shared to share.
scheduler::found_work scheduler::search(worker& self, bool ask) noexcept {
  found_work work = own_work(self);
  if (work) return work;
  if (self.serves_only) return from_parked(self);
  if (shared_ && (work.slot = shared_->take_oldest()) != nullptr) return work;
  work = from_parked(self);
  const auto others = static_cast<unsigned>(workers_.size()) - 1;
  for (unsigned attempt = 0; !work && attempt < others; ++attempt) {
    work = from_victim(self, next_victim(self, attempt), ask);
  }
  return work;
}

bool scheduler::strand_has_work(const task_stack& stack) const noexcept {
  if (!external_) return detail::has_work(stack);
  if (shared_) return false;
  return fiber_of(const_cast<task_stack*>(&stack))->mpb->size() != 0;
}

/// Returns whether there is work that a sleeping worker would miss. Exact behind a heavy fence.
bool scheduler::any_work() noexcept {
  if (inbox_count_.load(std::memory_order_acquire) != 0) return true;
  if (shared_ && shared_->size() != 0) return true;
  for (const auto& each : workers_) {
    if (!each->ready.empty()) return true;
    const task_stack* stack = each->active.load(std::memory_order_acquire);
    if (stack != nullptr && strand_has_work(*stack)) return true;
  }
  if (parked_count_.load(std::memory_order_acquire) == 0) return false;
  parked_lock_.lock();
  const bool found = std::any_of(parked_.begin(), parked_.end(), [&](const fiber* suspended) {
    return strand_has_work(suspended->tasks);
  });
  parked_lock_.unlock();
  return found;
}

/// Shares the private tasks of owners that do not answer. Returns true if any was shared.
bool scheduler::force_victims(worker& self) noexcept {
  if (external_) return false;
  bool shared = false;
  for (const auto& each : workers_) {
    task_stack* stack = each->active.load(std::memory_order_acquire);
    if (each.get() == &self || stack == nullptr || !detail::has_work(*stack)) continue;
    if (detail::force_share(*stack)) {
      shared = true;
      self.counters.add(counter::forced_shares);
    }
  }
  return shared;
}

}  // namespace creek::host_backend

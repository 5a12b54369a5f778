// SPDX-License-Identifier: Apache-2.0
// Looks for work.
#include "work_search.hpp"

#include <algorithm>

namespace creek::host_backend {

using ext::stealable_stack;

namespace {

/// While there are tasks of high or low priority, every such choice of a worker goes to others in
/// turn: to submitted tasks of low and of normal priority, to all else, to the worker's own tasks.
constexpr unsigned turning_choice = 32;

/// Resumed strands go before submitted tasks and those of strands that wait, but for every such
/// time: strands that resume each other without end must not keep a worker from the others.
constexpr unsigned turn_of_others = 32;

/// Pauses for which a thief leaves a strand that was resumed to the worker on which it was.
constexpr int pauses_before_theft = 16;

/// Takes a ready strand from another worker. Most often that worker itself soon waits and continues
/// the strand, with less delay: a thief that finds one alone looks again after a moment.
fiber* take_ready(worker& victim) noexcept {
  if (victim.ready.size() == 1) {
    const std::uint32_t before = victim.ready.taken();
    for (int i = 0; i < pauses_before_theft; ++i) cpu_pause();
    if (victim.ready.taken() != before) return nullptr;
  }
  return victim.ready.pop();
}

}  // namespace

found_work work_search::for_itself_alone(worker& self) noexcept {
  if (fiber* bound = self.bound.pop()) return bound;
  return found_work::messages_if(messages_.has_messages(self));
}

found_work work_search::without_stealing(worker& self, bool urgent_last) noexcept {
  if (fiber* bound = self.bound.pop()) return bound;
  if (self.serves_only) return {};
  submission_queues& submissions = work_.submissions();
  if (!urgent_last) {
    if (ext::submitted_task* urgent = submissions.pop(priority::high)) return urgent;
  }
  if (self.ready.empty()) return submissions.pop(priority::normal);
  if (++self.strand_turns % turn_of_others == 0) {
    if (ext::submitted_task* task = submissions.pop(priority::normal)) return task;
    if (const found_work task = from_parked(self, false)) return task;
  }
  return self.ready.pop();
}

found_work work_search::before_own(worker& self) noexcept {
  if (self.serves_only || self.borrowed != nullptr) return {};
  if (work_.waking().governor().too_many_awake(work_.waking().state().sleepers())) return {};
  submission_queues& submissions = work_.submissions();
  const unsigned choice = ++self.choices;
  if (choice % turning_choice != 0) return submissions.pop(priority::high);
  const unsigned turn = choice / turning_choice % 4;
  if (turn == 0) return submissions.pop(priority::low);
  if (turn == 3 || !submissions.any_high()) return {};
  if (turn == 1) return submissions.pop(priority::normal);
  return look(self, false, true, false);
}

inline found_work work_search::from_victim(worker& self, unsigned index, bool ask) noexcept {
  worker& victim = workers_[index];
  ext::task_slot* stolen = nullptr;
  self.counters.add(counter::steals_tried);
  if (stealable_stack* stack = victim.active.load(std::memory_order_acquire)) {
    const steal_result outcome = work_.deques().steal(*stack, stolen);
    if (outcome != steal_result::taken && ask) stack->ask();
  }
  const found_work work = stolen != nullptr ? found_work(stolen) : take_ready(victim);
  if (work) {
    recorder* const records = stolen != nullptr ? self.recording() : nullptr;
    if (records != nullptr) [[unlikely]]
      records->note_steal(victim.recording());
    self.victims.had_work(index);
    self.counters.add(counter::steals_won);
  }
  return work;
}

found_work work_search::from_parked(worker& self, bool ask) noexcept {
  ext::task_slot* stolen = nullptr;
  const bool won = work_.parked().any_of([&](fiber& suspended) {
    if (self.serves_only && suspended.parked != &self) return parked_look::keeps;
    task_deques& deques = work_.deques();
    if (deques.steal(suspended.tasks, stolen) == steal_result::taken) {
      if (recorder* const records = self.recording()) [[unlikely]] {
        const wait_note::wait wait = suspended.waits.get();
        records->note_steal(suspended.parked->recording(),
                            wait.what != nullptr ? wait.since : ticks{});
      }
      return parked_look::taken;
    }
    if (!deques.has_work(suspended.tasks)) return parked_look::nothing;
    // Another fiber runs its tasks meanwhile, and answers.
    if (ask) suspended.tasks.ask();
    return parked_look::keeps;
  });
  if (won) self.counters.add(counter::steals_won);
  return stolen;
}

found_work work_search::look(worker& self, bool ask, bool urgent_last, bool for_messages) noexcept {
  if (for_messages && messages_.has_messages(self) && self.bound.empty())
    return found_work::messages_if(true);
  if (const found_work own = without_stealing(self, urgent_last)) return own;
  if (self.serves_only) return from_parked(self, ask);
  if (ext::task_slot* shared = work_.deques().take_shared()) return shared;
  found_work work = from_parked(self, ask);
  for (unsigned attempt = 0; !work && attempt < self.victims.others(); ++attempt) {
    work = from_victim(self, self.victims.next(attempt), ask);
  }
  if (!work && urgent_last) work = work_.submissions().pop(priority::high);
  return work;
}

found_work work_search::at_last(worker& self) noexcept {
  const found_work work = everywhere(self, true);
  return work || self.serves_only ? work : of_low_priority(true);
}

found_work work_search::of_low_priority(bool at_any_rate) noexcept {
  if (!work_.submissions().any_low() || (!at_any_rate && count_work_but_low(1) != 0)) return {};
  return work_.submissions().pop(priority::low);
}

unsigned work_search::count_work(unsigned enough) noexcept {
  return work_.submissions().any_low() ? enough : count_work_but_low(enough);
}

unsigned work_search::count_work_but_low(unsigned enough) noexcept {
  task_deques& deques = work_.deques();
  std::size_t found = 0;
  const auto add = [&](std::size_t more) { return (found += more) >= enough; };
  if (add(work_.submissions().size_but_low()) || add(deques.any_shared() ? 1 : 0)) return enough;
  // Parked strands first: one that goes on meanwhile is active before it leaves the list.
  work_.parked().any_of([&](fiber& suspended) {
    const std::size_t more = deques.count_work(suspended.tasks);
    if (add(more)) return parked_look::taken;
    return more != 0 ? parked_look::keeps : parked_look::nothing;
  });
  for (worker& each : workers_) {
    if (add(each.ready.size())) return enough;
    const stealable_stack* stack = each.active.load(std::memory_order_acquire);
    if (stack != nullptr && add(deques.count_work(*stack))) return enough;
  }
  return static_cast<unsigned>(std::min<std::size_t>(found, enough));
}

bool work_search::force_victims(worker& self) noexcept {
  if (work_.deques().external()) return false;
  bool shared = false;
  const auto force = [&](stealable_stack* stack) {
    if (stack == nullptr || !stack->has_work() || !stack->force_share()) return;
    shared = true;
    self.counters.add(counter::forced_shares);
  };
  for (worker& each : workers_) {
    if (&each != &self) force(each.active.load(std::memory_order_acquire));
  }
  stealable_stack* parked = nullptr;  // its fiber may have gone on meanwhile: then it is a victim
  work_.parked().any_of([&](fiber& suspended) {
    if (!suspended.tasks.has_work()) return parked_look::nothing;
    parked = &suspended.tasks;
    return parked_look::taken;
  });
  force(parked);
  return shared;
}

}  // namespace creek::host_backend

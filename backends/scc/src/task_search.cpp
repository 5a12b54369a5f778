// SPDX-License-Identifier: Apache-2.0
// Places where a worker finds work, and its behaviour when there is none.
#include <algorithm>

#include "task_runtime.hpp"

namespace creek::scc_backend {

namespace {

/// Between two looks of a search: choose the victim, compare, branch. An estimate.
constexpr cycles choosing_a_victim{15};
/// Other workers looked at before a worker looks at its own queues again.
constexpr unsigned looks_in_a_row = 16;
/// Time that a worker without work rests between rounds: 1 us to 15 us at 533 MHz, well below the
/// length of tasks that are worth stealing.
constexpr cycles shortest_rest{512};
constexpr cycles longest_rest{8192};

cycles longer(cycles rest) noexcept {
  return std::clamp(2 * rest, shortest_rest, longest_rest);
}

}  // namespace

/// Runs one task or strand; returns false if none was found.
bool task_runtime::work_once(task_worker& worker) {
  if (worker.core.value == 0 && !letters_.empty()) send_letters();
  const bool served = serve(worker);
  if (resume_one(worker)) return true;
  task_record task;
  if (worker.core.value == 0 && !arrived_.empty()) {
    task.task = arrived_.front();
    arrived_.pop_front();
    while (!arrived_.empty() && put(worker, {arrived_.front(), nullptr})) {
      arrived_.pop_front();
      --active_;  // counted twice now
    }
  } else if (!take_own(worker, task) &&
             (worker.serves_only || too_many_awake() || !steal_one(worker, task))) {
    return served;
  }
  run(worker, task);
  return true;
}

/// Resumes a strand whose wait is over; this loop's stack is left for later.
bool task_runtime::resume_one(task_worker& worker) {
  if (worker.suspended != 0) (void)worker.memory.load(worker.event);
  if (worker.ready.empty()) return false;
  task_fiber& next = *worker.ready.front();
  worker.ready.pop_front();
  if (worker.ready.empty()) worker.memory.store(worker.event, 0);
  worker.counters.add(counter::resumes);
  worker.rest = {};
  worker.attempt = 0;
  tell_of_task(worker);
  worker.idle_fibers.push_back(worker.current);
  continue_with(worker, next);
  return true;
}

bool task_runtime::take_own(task_worker& worker, task_record& task) {
  if (!shared_) {
    if (!worker.tasks->pop_newest(worker.memory, task)) return false;
    --queued_;
    return true;
  }
  if (worker.surplus.empty()) return false;
  share_surplus(worker);
  charge(work::byte_copied, sizeof task);
  task = worker.surplus.back();
  worker.surplus.pop_back();
  return true;
}

/// Searches the rest of a round, or a part of it. The simulation knows when no deque has a task,
/// and does not carry out looks that would find nothing: idle() lets that time pass.
bool task_runtime::steal_one(task_worker& worker, task_record& task) {
  if (workers_.size() < 2) return false;
  const unsigned in_a_round = shared_ ? 1 : static_cast<unsigned>(workers_.size()) - 1;
  for (unsigned looks = 0; looks < looks_in_a_row && queued_ > 0 && worker.ready.empty(); ++looks) {
    if (worker.attempt >= in_a_round) {
      worker.attempt = 0;
      if (worker.rests) {
        worker.rest = longer(worker.rest);
        worker.memory.pause(worker.rest);
        return false;
      }
    }
    const steal_result result = try_victim(worker, task);
    if (result == steal_result::taken) return true;
    ++worker.attempt;
  }
  return false;
}

steal_result task_runtime::try_victim(task_worker& worker, task_record& task) {
  worker.memory.charge(choosing_a_victim);
  worker.counters.add(counter::steals_tried);
  const unsigned victim = shared_ ? 0 : pick_victim(worker);
  const steal_result result = shared_ ? shared_->take(worker.memory, task)
                                      : workers_[victim].tasks->steal_oldest(worker.memory, task);
  if (result != steal_result::taken) return result;
  --queued_;
  worker.last_victim = victim;
  worker.counters.add(counter::steals_won);
  log_.note(worker, step::steal, victim);
  return result;
}

unsigned task_runtime::pick_victim(task_worker& worker) {
  const auto self = static_cast<unsigned>(worker.core.value);
  const scheduler_kind how = chosen_.options.scheduler;
  if (how == scheduler_kind::stealing_latency) {
    return worker.near_first[worker.attempt % worker.near_first.size()];
  }
  if (how == scheduler_kind::stealing_last_victim && worker.attempt == 0 &&
      worker.last_victim != self) {
    return worker.last_victim;
  }
  const auto others = static_cast<unsigned>(workers_.size()) - 1;
  const auto choice =
      static_cast<unsigned>(drawn(chosen_.options.seed, self, worker.searches++) % others);
  return choice < self ? choice : choice + 1;
}

// --- Without work -------------------------------------------------------------------------------

/// Called when no task lies anywhere: gives the core up until that changes.
void task_runtime::idle(task_worker& worker) {
  if (may_go_on(worker)) return;
  idle_plan plan = plan_of_waiting(worker);
  while (plan.how == idle_policy::poll && plan.search.count() > 0) {  // ask it again later
    if (!search_for(worker, search_of(worker, plan))) return;
    plan = plan_of_waiting(worker);
  }
  worker.rests = plan.how != idle_policy::poll;
  if (plan.how == idle_policy::block) return sleep(worker, search_of(worker, plan));
  if (may_go_on(worker)) return;  // a policy may have taken time
  const virtual_time since = workers_.now();
  worker.parked = true;
  chip_.becomes_idle(activity::waiting);
  chip_.simulation().park("work, core", worker.core.index());
  skip_rounds(worker, since);
  chip_.resumes();
}

/// Lets the rounds pass that the worker would have searched in vain since `since`, up to the look
/// at which it is now, and puts its clock there. What such looks cost others, a busy port, is not
/// modelled.
void task_runtime::skip_rounds(task_worker& worker, virtual_time since) {
  const virtual_time until = workers_.now();
  const virtual_time round = round_of(worker);
  if (round.femtoseconds <= 0) return;
  const auto in_a_round = shared_ ? std::int64_t{1} : std::int64_t(workers_.size()) - 1;
  const bool rests = worker.rests;
  std::int64_t looks = 0;
  virtual_time at = since;
  const auto skip = [&](std::int64_t rounds) {
    looks += rounds * in_a_round;
    at += rounds * (round + worker.rest * chip_.clock(worker.core));
  };
  while (rests && worker.rest < longest_rest) {
    worker.rest = longer(worker.rest);
    if (until < at + round + worker.rest * chip_.clock(worker.core)) break;
    skip(1);
  }
  skip((until - at) / (round + worker.rest * chip_.clock(worker.core)));
  // The worker is somewhere in a round, or in the rest after it.
  const virtual_time look{round.femtoseconds / in_a_round};
  const std::int64_t done =
      std::min(in_a_round, (until - at + look).femtoseconds / look.femtoseconds);
  looks += done;
  at += done * look;
  worker.attempt = static_cast<unsigned>(done % in_a_round);
  if (at < until) at += worker.rest * chip_.clock(worker.core);
  worker.searches += static_cast<std::uint64_t>(looks);
  worker.counters.add(counter::steals_tried, static_cast<std::uint64_t>(looks));
  chip_.simulation().set_clock(std::max(at, until));
}

/// Lets a worker that polls see what has come.
void task_runtime::let_look(task_worker& worker) noexcept {
  if (!worker.parked) return;
  worker.parked = false;
  chip_.simulation().wake(worker.core, std::max(workers_.now(), chip_.acknowledged()));
}

void task_runtime::wake(task_worker& worker) noexcept {
  if (worker.parked) return let_look(worker);
  if (&worker != &workers_.here()) rouse(worker);
}

/// Wakes the workers that may take a task put somewhere now: all that poll, and one that sleeps.
void task_runtime::wake_takers() noexcept {
  for (const auto& each : workers_) {
    if (!each->serves_only) let_look(*each);
  }
  power_policy* const told = policy();
  const auto self = static_cast<unsigned>(workers_.here().core.value);
  if (told == nullptr) return rouse_taker();
  const unsigned awake = takers_ - takers_asleep_;
  if (takers_asleep_ == 0 || awake >= std::max(told->most_awake(), 1U)) return;
  if (told->tasks_ready(self, 1) > 0) rouse_taker();
}

void task_runtime::wake_all() noexcept {
  for (const auto& each : workers_) wake(*each);
}

}  // namespace creek::scc_backend

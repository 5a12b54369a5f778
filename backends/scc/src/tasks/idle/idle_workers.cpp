// SPDX-License-Identifier: Apache-2.0
// Waiting for work in virtual time, and waking.
#include <creek/scc/interrupts.hpp>

#include "idle_workers.hpp"

#include <algorithm>

#include "power/search_span.hpp"

namespace creek::scc_backend {

namespace {

/// Unless a plan says how long, a worker searches at least for the price of a wake-up before it
/// writes its bit. An estimate from chip_costs: interrupt, register and words.
constexpr cycles min_search{1200};

}  // namespace

void idle_workers::begin(task_worker& worker) const {
  if (worker.core.value == 0) asleep_.reset(worker);
  worker.rests = how_ != idle_policy::poll;
}

/// Called when no task lies anywhere: gives the core up until that changes.
void idle_workers::idle(task_worker& worker) {
  if (may_go_on(worker)) return;
  idle_plan plan = policy_.plan_of_waiting(worker);
  while (plan.how == idle_policy::poll && plan.search.count() > 0) {  // ask it again later
    if (!search_for(worker, search_of(worker, plan))) return;
    plan = policy_.plan_of_waiting(worker);
  }
  worker.rests = plan.how != idle_policy::poll;
  // No timer interrupts a core that halts.
  if (plan.how == idle_policy::block && worker.deadlines.empty())
    return sleep(worker, search_of(worker, plan));
  if (may_go_on(worker)) return;  // a policy may have taken time
  const virtual_time since = workers_.now();
  worker.parked = true;
  workers_.chip().log().becomes_idle(activity::waiting);
  park(worker);
  skip_rounds(worker, since);
  workers_.chip().log().resumes();
}

/// Parks until something comes for the worker, or the wait of one of its strands is over.
void idle_workers::park(task_worker& worker) {
  engine& simulation = workers_.chip().simulation();
  constexpr const char* what = "work, core";
  if (worker.deadlines.empty()) {
    simulation.park(what, worker.core.index());
  } else {
    const virtual_time until = worker.deadlines.begin()->first;
    if (!simulation.park_until(what, worker.core.index(), until)) worker.parked = false;
  }
}

/// Lets the rounds pass that the worker would have searched in vain since `since`, up to the look
/// at which it is now, and puts its clock there. What such looks cost others, a busy port, is not
/// modelled.
void idle_workers::skip_rounds(task_worker& worker, virtual_time since) {
  const virtual_time until = workers_.now();
  const virtual_time round = round_of(worker);
  if (round.femtoseconds <= 0) return;
  const std::int64_t in_a_round = looks_in_a_round_;
  const bool rests = worker.rests;
  std::int64_t looks = 0;
  virtual_time at = since;
  const auto skip = [&](std::int64_t rounds) {
    looks += rounds * in_a_round;
    at += rounds * (round + worker.rest * workers_.chip().clocks().of(worker.core));
  };
  while (rests && worker.rest < task_worker::longest_rest) {
    worker.rest = task_worker::longer(worker.rest);
    if (until < at + round + worker.rest * workers_.chip().clocks().of(worker.core)) break;
    skip(1);
  }
  skip((until - at) / (round + worker.rest * workers_.chip().clocks().of(worker.core)));
  // The worker is somewhere in a round, or in the rest after it.
  const virtual_time look{round.femtoseconds / in_a_round};
  const std::int64_t done =
      std::min(in_a_round, (until - at + look).femtoseconds / look.femtoseconds);
  looks += done;
  at += done * look;
  worker.attempt = static_cast<unsigned>(done % in_a_round);
  if (at < until) at += worker.rest * workers_.chip().clocks().of(worker.core);
  worker.searches += static_cast<std::uint64_t>(looks);
  worker.counters.add(counter::steals_tried, static_cast<std::uint64_t>(looks));
  workers_.chip().simulation().set_clock(std::max(at, until));
}

/// Returns whether there is something for the worker, or nothing at all any more.
bool idle_workers::may_go_on(const task_worker& worker) const noexcept {
  const bool mine =
      worker.letters > 0 ||
      (worker.core.value == 0 && (!pending_.arrived.empty() || !pending_.messages.empty()));
  const bool may_steal = pending_.queued > 0 && !worker.serves_only && !policy_.too_many_awake();
  return pending_.active == 0 || may_steal || !worker.ready.empty() || mine || pending_.finished ||
         worker.is_any_wait_over(workers_.now());
}

/// Searches until `span` is over; returns false if something came before. Goes in steps of one
/// look, so that it is found at the look that would find it.
bool idle_workers::search_for(task_worker& worker, virtual_time span) {
  engine& simulation = workers_.chip().simulation();
  const virtual_time until = workers_.now() + span;
  const std::int64_t looks = std::max<std::int64_t>(1, looks_in_a_round_);
  const virtual_time round = round_of(worker);
  const virtual_time look{std::max<std::int64_t>(round.femtoseconds / looks, 1'000'000)};
  workers_.chip().log().becomes_idle(activity::waiting);
  bool found = may_go_on(worker);
  while (!found && workers_.now() < until) {
    simulation.advance(std::min(look, until - workers_.now()));
    worker.counters.add(counter::steals_tried);
    simulation.order_at(workers_.now());
    found = may_go_on(worker);
  }
  workers_.chip().log().resumes();
  return !found;
}

/// Returns the time of one round of looking at all others, at the core's clock now.
virtual_time idle_workers::round_of(const task_worker& worker) const noexcept {
  return worker.round_cycles * workers_.chip().clocks().of(worker.core) +
         worker.round_mesh_cycles * workers_.chip().description().clocks.mesh;
}

/// Returns how long to search by a plan before the bit is written; by default at least a round.
virtual_time idle_workers::search_of(const task_worker& worker,
                                     const idle_plan& plan) const noexcept {
  if (plan.search.count() >= 0) return search_span(plan.search);
  return std::max(round_of(worker), min_search * workers_.chip().clocks().of(worker.core));
}

/// Halts until there is something for the worker.
void idle_workers::sleep(task_worker& worker, virtual_time search) {
  if (!search_for(worker, search)) return;
  asleep_.enter(worker);
  if (!search_for(worker, round_of(worker)) || may_go_on(worker)) {
    if (asleep_.leave(worker)) return;
  }
  log_.note(worker, step::halt);
  worker.counters.add(counter::parks);
  const virtual_time began = workers_.now();
  interrupt_pins(worker.memory).halt();
  worker.counters.add(counter::parked_ns, static_cast<std::uint64_t>(
                                              (workers_.now() - began).femtoseconds / 1'000'000));
  worker.memory.charge(workers_.chip().description().costs.interrupt_entry + kernel_crossing_);
  log_.note(worker, step::woken);
}

/// Lets a worker that polls see what has come.
void idle_workers::let_look(task_worker& worker) noexcept {
  if (!worker.parked) return;
  worker.parked = false;
  workers_.chip().simulation().wake(
      worker.core, std::max(workers_.now(), workers_.chip().memory().network().acknowledged()));
}

void idle_workers::wake(task_worker& worker) noexcept {
  if (worker.parked) return let_look(worker);
  if (&worker != &workers_.here()) asleep_.wake(worker);
}

void idle_workers::wake_takers() noexcept {
  for (const auto& each : workers_) {
    if (!each->serves_only) let_look(*each);
  }
  if (policy_.wants_another_awake()) asleep_.wake_taker();
}

void idle_workers::wake_all() noexcept {
  for (const auto& each : workers_) wake(*each);
}

}  // namespace creek::scc_backend

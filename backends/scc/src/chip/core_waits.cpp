// SPDX-License-Identifier: Apache-2.0
// Waiting in virtual time: a core that polls is parked, and woken for the look that sees the stored
// word; a core that halts is woken by the interrupt of the core that stored it.
#include "core_waits.hpp"

#include <algorithm>
#include <exception>
#include <limits>

#include "power/search_span.hpp"
#include "power/wished_clocks.hpp"

namespace creek::scc_backend {

void core_waits::await_store(std::size_t at) {
  simulation_.failure()
      .throw_if_aborted();  // before it is on a list that no core would take it off
  if (interrupts_.is_due()) return;
  const bool own_word =
      memory_.bytes().is_mpb(at) && memory_.bytes().owner(at) == simulation_.running();
  if (here().depth > 0 && !waits_longer(own_word)) return;
  memory_.watchers().watch(at);
  poll_or_halt("a store to the word at", at, own_word);
}

void core_waits::await_own_store(std::uint64_t seen_before, virtual_time began) {
  simulation_.failure().throw_if_aborted();
  line_watchers& watchers = memory_.watchers();
  const virtual_time compare = chip_.costs.poll * clocks_.here();
  const virtual_time next_look = simulation_.now() + compare;
  watchers.polls({next_look, simulation_.now() - began + compare, {}});
  if (watchers.stores_to(simulation_.running()) != seen_before) {
    simulation_.set_clock(next_look);  // a store came while it looked: look again
    return;
  }
  if (interrupts_.is_due()) return;
  if (here().depth > 0 && !waits_longer(true)) return;
  watchers.watch_own_memory(true);
  poll_or_halt("a store to its own memory, core", simulation_.running().index(), true);
  watchers.watch_own_memory(false);
}

namespace {

constexpr virtual_time for_ever{std::numeric_limits<std::int64_t>::max()};
/// Estimate of what halting adds to a wait besides the interrupt: two writes and two looks.
constexpr cycles halting_takes{200};

}  // namespace

void core_waits::begin_by_policy() {
  if (here().depth++ == 0) ask_policy();
}

void core_waits::ask_policy() {
  core_state& self = here();
  const idle_plan plan = policy_->worker_idle(static_cast<unsigned>(simulation_.running().value));
  self.may_halt = plan.how == idle_policy::block;
  if (self.may_halt) signals_.expect();
  self.polls_until = for_ever;
  if (plan.search.count() >= 0) {
    self.polls_until = simulation_.now() + search_span(plan.search);
  } else if (self.may_halt) {
    // Polls as long as halting would take: loses at most twice as much as if it knew the end.
    self.polls_until = simulation_.now() + (signals_.wake_cost() + halting_takes) * clocks_.here();
  }
}

void core_waits::end_by_policy() noexcept {
  if (--here().depth > 0) return;
  if (simulation_.failure().aborted()) return signals_.drop();
  try {
    if (signals_.is_announced()) signals_.announce(false);
  } catch (...) {
    simulation_.fail(std::current_exception());
    return;
  }
  policy_->task_about_to_run(static_cast<unsigned>(simulation_.running().value), {});
  wished_->settle();
}

/// Returns false if time has passed, so that the core has to look again.
bool core_waits::waits_longer(bool own_word) {
  core_state& self = here();
  if (signals_.is_announced() || simulation_.now() < self.polls_until) return true;
  if (!self.may_halt) {
    ask_policy();
  } else if (own_word) {
    signals_.announce(true);
  } else {
    return true;
  }
  return false;
}

void core_waits::poll_or_halt(const char* what, std::uint64_t address, bool own_word) {
  core_state& self = here();
  // A wait that may halt may contain one for another core's word, which no interrupt would end.
  if (signals_.is_announced() && own_word) {
    signals_.halt(what, address);
    // If that was not the awaited store, the policy is asked again.
    self.may_halt = false;
    self.polls_until = simulation_.now();
    return;
  }
  if (self.depth == 0 || self.polls_until == for_ever || (self.may_halt && !own_word)) {
    return log_.park(what, address);
  }
  log_.becomes_idle(activity::waiting);
  if (!simulation_.park_until(what, address, self.polls_until)) {
    memory_.watchers().forget(simulation_.running());
  }
  log_.resumes();
}

}  // namespace creek::scc_backend

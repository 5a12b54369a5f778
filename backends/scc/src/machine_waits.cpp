// SPDX-License-Identifier: Apache-2.0
// Waiting in virtual time: a core that polls is parked, and woken for the look that sees the stored
// word; a core that halts is woken by the interrupt of the core that stored it. And the two ways in
// which time runs out.
#include <algorithm>
#include <cerrno>
#include <exception>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

#include <creek/core/error.hpp>

#include "machine.hpp"
#include "search_span.hpp"
#include "wished_clocks.hpp"

namespace creek::scc_backend {

void machine::await_store(std::size_t at) {
  engine_.throw_if_aborted();  // before it is on a list that no core would take it off
  if (interrupt_due()) return;
  core_state& self = here();
  const bool own_word = at < mpb_end_ && owner(at) == engine_.running();
  if (self.waits > 0 && !waits_longer(own_word)) return;
  self.watched_line = at / line_size;
  self.next_watcher = std::exchange(watchers_[self.watched_line], engine_.running().value + 1);
  polls_or_halts("a store to the word at", at, own_word);
}

void machine::await_own_store(std::uint64_t seen_before, virtual_time began) {
  engine_.throw_if_aborted();
  core_state& self = here();
  const virtual_time compare = chip_.costs.poll * here_clock();
  self.look_offset = {};
  self.look_period = engine_.now() - began + compare;
  self.next_look = engine_.now() + compare;
  if (self.stores != seen_before) {  // a store came while it looked: look again
    engine_.set_clock(self.next_look);
    return;
  }
  if (interrupt_due()) return;
  if (self.waits > 0 && !waits_longer(true)) return;
  self.awaits_any = true;
  polls_or_halts("a store to its own memory, core", engine_.running().index(), true);
  self.awaits_any = false;
}

/// Wakes `core` at the look in which it reads the word that was stored at `when`.
void machine::wake_at_look(core_id core, virtual_time when) {
  const core_state& waiting = local_[core.index()];
  virtual_time look = waiting.next_look;
  const virtual_time read = look + waiting.look_offset;
  if (read < when) {
    const virtual_time late = when - read;
    const std::int64_t rounds = (late.femtoseconds + waiting.look_period.femtoseconds - 1) /
                                waiting.look_period.femtoseconds;
    look += rounds * waiting.look_period;
  }
  engine_.wake(core, look);
}

void machine::park(const char* what, std::uint64_t address, activity kind) {
  becomes_idle(kind);
  engine_.park(what, address);
  resumes();
}

void machine::look_again(core_id core, virtual_time when) {
  core_state& waiting = local_[core.index()];
  if (!engine_.is_parked(core) || waiting.asleep ||
      !(waiting.awaits_any || waiting.watched_line != none))
    return;
  forget_watch(core);
  wake_at_look(core, when);
}

void machine::stored(std::size_t at, virtual_time when) {
  note_progress();
  if (at < mpb_end_) {
    core_state& home = local_[owner(at).index()];
    ++home.stores;
    const bool polls = home.awaits_any && !home.asleep;
    if (polls && engine_.is_parked(owner(at))) wake_at_look(owner(at), when);
  }
  std::int32_t* link = &watchers_[at / line_size];
  while (*link != 0) {
    const core_id waiting{*link - 1};
    core_state& woken = local_[waiting.index()];
    if (woken.asleep) {  // it cannot look
      link = &woken.next_watcher;
      continue;
    }
    *link = woken.next_watcher;
    woken.watched_line = none;
    // In a run that has failed every core continues to unwind, and may be here still.
    if (engine_.is_parked(waiting)) wake_at_look(waiting, when);
  }
}

/// Takes a core off the list of the line that it is parked for, to be woken by something else.
void machine::forget_watch(core_id core) {
  core_state& waiting = local_[core.index()];
  if (waiting.watched_line == none) return;
  std::int32_t* link = &watchers_[waiting.watched_line];
  while (*link != core.value + 1) link = &local_[static_cast<std::size_t>(*link - 1)].next_watcher;
  *link = waiting.next_watcher;
  waiting.watched_line = none;
}

// --- Waits that a policy is told of -------------------------------------------------------------
//
// A core that waits for a word of its own message-passing memory may halt. It polls for a while,
// writes into a word there that it halts, looks once more and halts. A signaller first stores to
// such a word, then reads the other one, and interrupts the core if that says so. Each writes
// before it reads, so one of the two sees the other, and no wake-up is lost. A pin that is up when
// the core halts ends that at once. Only signals wake: a memory policy's waits promise no more.
// Words of others' memory are polled for, as a core that stores there cannot know who waits.

namespace {

constexpr virtual_time for_ever{std::numeric_limits<std::int64_t>::max()};
/// Estimate of what halting adds to a wait besides the interrupt: two writes and two looks.
constexpr cycles halting_takes{200};

}  // namespace

void machine::require_crossing(const chip& of, cycles kernel_crossing) {
  constexpr virtual_time second{1'000'000'000'000'000};
  const clock_period slowest = std::max(of.clocks.core, of.power.divided(of.power.highest_divider));
  const std::int64_t most = second.femtoseconds / slowest.length.femtoseconds;
  if (kernel_crossing.count >= 0 && kernel_crossing.count <= most) return;
  throw usage_error("simulated chip: kernel_crossing must be between 0 and " +
                    std::to_string(most) + " cycles, a second; got " +
                    std::to_string(kernel_crossing.count));
}

void machine::ask_how_to_wait() {
  core_state& self = here();
  if (self.waits++ == 0) ask_policy();
}

void machine::ask_policy() {
  core_state& self = here();
  const idle_plan plan = waits_by_->worker_idle(static_cast<unsigned>(engine_.running().value));
  self.may_halt = plan.how == idle_policy::block;
  some_halt_ |= self.may_halt;
  self.polls_until = for_ever;
  if (plan.search.count() >= 0) {
    self.polls_until = engine_.now() + search_span(plan.search);
  } else if (self.may_halt) {
    // Polls as long as halting would take: loses at most twice as much as if it knew the end.
    self.polls_until =
        engine_.now() +
        (chip_.costs.interrupt_entry + kernel_crossing_ + halting_takes) * here_clock();
  }
}

void machine::go_on_after_wait() noexcept {
  core_state& self = here();
  if (--self.waits > 0) return;
  if (engine_.aborted()) {
    self.announced = self.interrupted = false;
    return;
  }
  try {
    if (self.announced) announce(false);
  } catch (...) {
    engine_.fail(std::current_exception());
    return;
  }
  waits_by_->task_about_to_run(static_cast<unsigned>(engine_.running().value), {});
  clocks_->settle();
}

/// Returns false if time has passed, so that the core has to look again.
bool machine::waits_longer(bool own_word) {
  core_state& self = here();
  if (self.announced || engine_.now() < self.polls_until) return true;
  if (!self.may_halt) {
    ask_policy();
  } else if (own_word) {
    announce(true);
  } else {
    return true;
  }
  return false;
}

void machine::polls_or_halts(const char* what, std::uint64_t address, bool own_word) {
  core_state& self = here();
  // A wait that may halt may contain one for another core's word, which no interrupt would end.
  if (self.announced && own_word) return halt_in_wait(what, address);
  if (self.waits == 0 || self.polls_until == for_ever || (self.may_halt && !own_word)) {
    return park(what, address);
  }
  becomes_idle(activity::waiting);
  if (!engine_.park_until(what, address, self.polls_until)) forget_watch(engine_.running());
  resumes();
}

/// Writes the core's word that tells others whether it halts.
void machine::announce(bool halts) {
  core_state& self = here();
  engine_.advance(chip_.costs.uc_write_issue * here_clock());
  const passage way = request_tile(engine_.running(), chip_.costs.uc_write);
  self.announced = halts;
  if (!halts) self.interrupted = false;
  engine_.set_clock(way.start);
}

void machine::halt_in_wait(const char* what, std::uint64_t address) {
  core_state& self = here();
  if (!self.interrupted) {
    self.asleep = true;
    try {
      park(what, address, activity::halted);
    } catch (...) {
      self.asleep = false;
      throw;
    }
    self.asleep = false;
  }
  forget_watch(engine_.running());
  engine_.set_clock(std::max(engine_.now(), self.interrupted_at));
  spend(chip_.costs.interrupt_entry + kernel_crossing_);
  ++self.interrupts;
  announce(false);
  // If that was not the awaited store, the policy is asked again.
  self.may_halt = false;
  self.polls_until = engine_.now();
}

void machine::raise_if_halted(core_id core) {
  if (core == engine_.running()) return;
  const passage look = request_tile(core, chip_.costs.uc_read);
  engine_.set_clock(look.answered);
  core_state& target = local_[core.index()];
  if (!target.announced || target.interrupted) return;
  engine_.advance(chip_.costs.uc_write_issue * here_clock());
  const passage way = request_tile(core, chip_.costs.uc_write);
  engine_.set_clock(way.start);
  if (!target.announced) return;  // it has seen what it waited for
  target.interrupted = true;
  target.interrupted_at = way.served;
  if (target.asleep && engine_.is_parked(core)) engine_.wake(core, way.served);
}

/// Called if only polling is left to happen, for longer than any program means to.
void machine::stuck() {
  throw error(std::error_code(EDEADLK, std::generic_category()),
              engine_.deadlock_report(
                  "livelock: nothing but polling for " +
                  std::to_string(stuck_after_.femtoseconds / 1'000'000'000'000) + " ms"));
}

void machine::refuse(cycles length) const {
  if (length.count < 0) {
    throw usage_error("simulated chip: core " + std::to_string(engine_.running().value) +
                      " cannot compute for " + std::to_string(length.count) + " cycles");
  }
  end_of_time();
}

void machine::end_of_time() {
  throw error(std::error_code(EOVERFLOW, std::generic_category()),
              "simulated chip: virtual time ends after " +
                  std::to_string(latest.femtoseconds / 1'000'000'000'000'000) + " seconds");
}

}  // namespace creek::scc_backend

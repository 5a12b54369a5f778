// SPDX-License-Identifier: Apache-2.0
// Waiting in virtual time: who polls is parked, and woken for the look that sees what was stored.
// And the two ways in which time runs out.
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <creek/core/error.hpp>

#include "machine.hpp"

namespace creek::scc_backend {

void machine::await_store(std::size_t at) {
  engine_.throw_if_aborted();  // before it is on a list that nobody would take it off
  if (interrupt_due()) return;
  core_state& self = here();
  self.watched_line = at / line_size;
  self.next_watcher = std::exchange(watchers_[self.watched_line], engine_.running().value + 1);
  park("a store to the word at", at);
}

void machine::await_own_store(std::uint64_t seen_before, virtual_time began) {
  engine_.throw_if_aborted();
  core_state& self = here();
  const virtual_time compare = chip_.costs.poll * here_clock();
  self.look_offset = {};
  self.look_period = engine_.now() - began + compare;
  self.next_look = engine_.now() + compare;
  if (self.stores != seen_before) {  // one came while it looked: look again
    engine_.set_clock(self.next_look);
    return;
  }
  if (interrupt_due()) return;
  self.awaits_any = true;
  park("a store to its own memory, core", engine_.running().index());
  self.awaits_any = false;
}

/// The look in which `core` reads what was stored at `when`.
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
  if (!engine_.is_parked(core) || !(waiting.awaits_any || waiting.watched_line != none)) return;
  forget_watch(core);
  wake_at_look(core, when);
}

void machine::stored(std::size_t at, virtual_time when) {
  note_progress();
  if (at < mpb_end_) {
    core_state& home = local_[owner(at).index()];
    ++home.stores;
    if (home.awaits_any && engine_.is_parked(owner(at))) wake_at_look(owner(at), when);
  }
  std::int32_t& first = watchers_[at / line_size];
  while (first != 0) {
    const core_id waiting{first - 1};
    core_state& woken = local_[waiting.index()];
    first = woken.next_watcher;
    woken.watched_line = none;
    // In a run that has failed everybody goes on to unwind, and may be here still.
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

/// All that is left to happen is polling, for longer than any program means to.
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

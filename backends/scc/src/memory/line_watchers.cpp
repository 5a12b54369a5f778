// SPDX-License-Identifier: Apache-2.0
#include "line_watchers.hpp"

#include <utility>

namespace creek::scc_backend {

void line_watchers::watch(std::size_t at) noexcept {
  waiting_core& self = here();
  self.line = at / line_size;
  self.next = std::exchange(first_[self.line], simulation_.running().value + 1);
}

void line_watchers::forget(core_id core) noexcept {
  waiting_core& waiting = cores_[core.index()];
  if (waiting.line == none) return;
  std::int32_t* link = &first_[waiting.line];
  while (*link != core.value + 1) link = &cores_[static_cast<std::size_t>(*link - 1)].next;
  *link = waiting.next;
  waiting.line = none;
}

/// Wakes `core` at the look in which it reads the word that was stored at `when`.
void line_watchers::wake_at_look(core_id core, virtual_time when) {
  const rhythm& looks = cores_[core.index()].looks;
  virtual_time look = looks.next_look;
  const virtual_time read = look + looks.offset;
  if (read < when) {
    const virtual_time late = when - read;
    const std::int64_t rounds =
        (late.femtoseconds + looks.period.femtoseconds - 1) / looks.period.femtoseconds;
    look += rounds * looks.period;
  }
  simulation_.wake(core, look);
}

void line_watchers::look_again(core_id core, virtual_time when) {
  const waiting_core& waiting = cores_[core.index()];
  if (!simulation_.cores().is_parked(core) || waiting.asleep ||
      !(waiting.awaits_any || waiting.line != none))
    return;
  forget(core);
  wake_at_look(core, when);
}

void line_watchers::stored(std::size_t at, virtual_time when) {
  limits_.note_progress();
  if (bytes_.is_mpb(at)) {
    const core_id owner = bytes_.owner(at);
    waiting_core& home = cores_[owner.index()];
    ++home.stores;
    const bool polls = home.awaits_any && !home.asleep;
    if (polls && simulation_.cores().is_parked(owner)) wake_at_look(owner, when);
  }
  std::int32_t* link = &first_[at / line_size];
  while (*link != 0) {
    const core_id waiting{*link - 1};
    waiting_core& woken = cores_[waiting.index()];
    if (woken.asleep) {  // it cannot look
      link = &woken.next;
      continue;
    }
    *link = woken.next;
    woken.line = none;
    // In a run that has failed every core continues to unwind, and may be here still.
    if (simulation_.cores().is_parked(waiting)) wake_at_look(waiting, when);
  }
}

}  // namespace creek::scc_backend

// SPDX-License-Identifier: Apache-2.0
// The search for processes that wait for each other. Each process that waits does so for one other
// process, so it is enough to follow it, the one that it waits for, and so on. Waiting for room can
// be cured by a larger channel: [Parks 1995]; cycles are found while others run as in
// [Geilen 2003].
#include <fmt/format.h>

#include <algorithm>

#include <creek/stream/network.hpp>

#include "network_state.hpp"

namespace creek::stream::detail {

bool network_state::search(process*& to_resume) noexcept {
  const std::uint64_t first_walk = walks_ + 1;
  for (const auto& start : processes_) {
    process* at = start.get();
    const walk_end end = walk_from(at, first_walk);
    if (end == walk_end::at_about_to_wait && !ask_to_search(*at)) return false;
    if (end == walk_end::in_cycle) resolve(*at, to_resume);
    if (ends_early()) break;
  }
  return true;
}

/// Follows those that wait from `at` on; leaves `at` where the walk ended.
network_state::walk_end network_state::walk_from(process*& at, std::uint64_t first_walk) noexcept {
  const std::uint64_t walk = ++walks_;
  for (;; at = &at->awaited_process()) {
    const std::uint64_t state = at->state_.load(std::memory_order_seq_cst);
    const auto now = process::phase_in(state);
    if (now == process::phase::blocking) return walk_end::at_about_to_wait;
    if (now != process::phase::blocked) return walk_end::at_active;
    if (at->walk_ >= first_walk) break;
    at->walk_ = walk;
    at->seen_ = state;
  }
  if (at->walk_ != walk) return walk_end::at_seen;
  // All of them waited at once if none has changed since it was seen: each would have had to be
  // woken by the next one, which waited, or by a message that this one had sent before.
  const process* each = at;
  do {
    const item_route* const route = each->awaited_.load(std::memory_order_relaxed)->route();
    // In this order: a message is in use until it has woken the process that it is for.
    if (route != nullptr && route->is_in_use()) return walk_end::at_active;
    if (each->state_.load(std::memory_order_seq_cst) != each->seen_) return walk_end::at_active;
    each = &each->awaited_process();
  } while (each != at);
  return walk_end::in_cycle;
}

/// Lets a process that is about to wait search once it does. Returns false if it does already.
bool network_state::ask_to_search(process& about_to_wait) noexcept {
  ask_for_search();
  const std::uint64_t state = about_to_wait.state_.load(std::memory_order_seq_cst);
  return process::phase_in(state) != process::phase::blocked;
}

void network_state::resolve(process& cycle, process*& to_resume) noexcept {
  channel_base* smallest = nullptr;
  try {
    std::string text = "stream: deadlock: ";
    const process* each = &cycle;
    do {
      channel_base& at = *each->awaited_.load(std::memory_order_relaxed);
      const process& next = each->awaited_process();
      const bool waits_for_room = each->awaited_side_.load(std::memory_order_relaxed) == side::room;
      if (waits_for_room && (smallest == nullptr || at.capacity() < smallest->capacity()))
        smallest = &at;
      text += waits_for_room ? fmt::format("'{}' waits for room for '{}' in {} of {} items",
                                           each->name(), next.name(), at.name(), at.capacity())
                             : fmt::format("'{}' waits for an item from '{}' in {}", each->name(),
                                           next.name(), at.name());
      each = &next;
      text += each == &cycle ? "" : ", ";
    } while (each != &cycle);
    if (smallest != nullptr && smallest->capacity() < max_capacity_) {
      smallest->grow(std::min(2 * smallest->capacity(), max_capacity_));
      return smallest->take_off(side::room, to_resume);
    }
    if (smallest != nullptr)
      text += fmt::format("; no channel grows beyond {} items", max_capacity_);
    end_all(std::make_exception_ptr(deadlock_error(text)), to_resume);
  } catch (...) {
    end_all(std::current_exception(), to_resume);
  }
}

}  // namespace creek::stream::detail

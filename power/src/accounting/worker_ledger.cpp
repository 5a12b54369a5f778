// SPDX-License-Identifier: Apache-2.0
#include "worker_ledger.hpp"

#include <algorithm>
#include <mutex>

namespace creek::power::detail {

void worker_ledger::begin(stamp at, phase_log::position phases) noexcept {
  const std::lock_guard alone(lock_);
  exists_ = true;
  doing_ = no_task;
  how_ = idle_policy::block;
  since_ = polls_until_ = at;
  phases_ = phases;
  clock_ = units::hertz{-1};  // no clock yet: makes set_clock() ask the model
  set_clock({});
}

void worker_ledger::end(stamp at, bool metered) noexcept {
  const std::lock_guard alone(lock_);
  settle(at, metered);
  exists_ = false;
}

void worker_ledger::task(stamp at, bool metered, const char* name, units::hertz clock) noexcept {
  const std::lock_guard alone(lock_);
  settle(at, metered);
  set_clock(clock);
  doing_ = name != nullptr ? name : unnamed_task;
  ++entry(doing_, phases_.phase).times;
}

void worker_ledger::idle(stamp at, bool metered, idle_policy how, stamp search) noexcept {
  const std::lock_guard alone(lock_);
  settle(at, metered);
  doing_ = no_task;
  how_ = how;
  polls_until_ = at + search;
}

void worker_ledger::forget(stamp at, bool metered) noexcept {
  const std::lock_guard alone(lock_);
  settle(at, metered);
  entries_ = {};
  overflow_ = {};
}

/// Charges the worker's activity since the last time to phases.
void worker_ledger::settle(stamp at, bool metered) noexcept {
  if (!exists_ || at <= since_) return;
  const phase_log& log = phase_log::of_process();
  if (log.changes() != phases_.changes) {
    log.walk(phases_, metered, since_, at, [&](phase_id before, stamp until) {
      charge(since_, until, before);
      since_ = until;
    });
  }
  charge(since_, at, phases_.phase);
  since_ = at;
}

void worker_ledger::charge(stamp from, stamp to, phase_id phase) noexcept {
  if (to <= from) return;
  ledger_entry& into = entry(doing_, phase);
  const auto span = static_cast<double>(to - from);
  if (doing_ != no_task) {
    into.busy += span;
    into.weight += computing_ * span;
    if (clock_.value > 0) {
      into.clock_known += span;
      into.clock_busy += clock_.value * span;
    }
    return;
  }
  const stamp awake = how_ == idle_policy::block ? std::clamp(polls_until_, from, to) : to;
  const auto polled = static_cast<double>(awake - from);
  into.polled += polled;
  into.weight += polling_ * polled + asleep_ * (span - polled);
}

ledger_entry& worker_ledger::entry(const char* name, phase_id phase) noexcept {
  const auto mixed = (reinterpret_cast<std::uintptr_t>(name) + phase) * 0x9E3779B97F4A7C15U;
  std::size_t at = (mixed >> 32) % room;
  for (std::size_t tries = 0; tries < room; ++tries, at = (at + 1) % room) {
    ledger_entry& here = entries_[at];
    if (here.name == name && here.phase == phase) return here;
    if (here.name == nullptr) {
      here.name = name;
      here.phase = phase;
      return here;
    }
  }
  ledger_entry& left = overflow_[name == no_task ? 1 : 0];
  left.name = name == no_task ? no_task : other_tasks;
  return left;
}

void worker_ledger::set_clock(units::hertz clock) noexcept {
  if (clock == clock_) return;
  clock_ = clock;
  computing_ = model->core_computing(clock).value;
  polling_ = model->core_polling(clock).value;
  asleep_ = model->asleep.value;
}

}  // namespace creek::power::detail

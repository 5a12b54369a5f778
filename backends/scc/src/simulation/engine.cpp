// SPDX-License-Identifier: Apache-2.0
#include "engine.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <system_error>
#include <utility>

#include <creek/core/error.hpp>

namespace creek::scc_backend {

engine::engine(int cores, std::size_t stack_bytes)
    : cores_(static_cast<std::size_t>(cores)), ready_(cores), fibers_(cores, stack_bytes, [this] {
        run_core();
        switch_to_next();
      }) {}

void engine::let_earlier_run(virtual_time time) {
  resume(ready_.exchange({time, fibers_.running()}));
}

/// Switches to the core of an event.
void engine::resume(core_event next) {
  simulated_core& core = cores_[static_cast<std::size_t>(next.core)];
  core.clock = std::max(core.clock, next.time);
  if (next.core != fibers_.running()) fibers_.switch_to(next.core);
}

/// Called when the running core has given up or ended: switches to the earliest core.
void engine::switch_to_next() {
  if (ready_.empty() && unfinished_ > 0) fail(deadlock());
  if (ready_.empty()) return fibers_.leave();
  resume(ready_.pop());
}

void engine::park(const char* what, std::uint64_t address) {
  simulated_core& self = here();
  throw_if_aborted();
  self.parked = true;
  self.waits_for = what;
  self.waits_at = address;
  switch_to_next();
  throw_if_aborted();
}

bool engine::park_until(const char* what, std::uint64_t address, virtual_time time) {
  simulated_core& self = here();
  throw_if_aborted();
  self.parked = self.timed = true;
  self.waits_for = what;
  self.waits_at = address;
  ready_.push({std::max(time, self.clock), fibers_.running()});
  switch_to_next();
  const bool woken = !std::exchange(self.parked, false);
  self.timed = false;
  throw_if_aborted();
  return woken;
}

void engine::wake(core_id core, virtual_time time) {
  simulated_core& woken = cores_[core.index()];
  assert(woken.parked);  // otherwise it is in the heap already
  woken.parked = false;
  if (std::exchange(woken.timed, false)) ready_.erase(core.value);
  ready_.push({std::max(time, woken.clock), core.value});
}

void engine::throw_if_aborted() const {
  if (aborted_) {
    throw error(std::error_code(ECANCELED, std::generic_category()),
                "simulated chip: the run was ended by a failure on another core");
  }
}

void engine::fail(std::exception_ptr why) noexcept {
  if (when_failing_) when_failing_(why);
  if (!failure_) failure_ = std::move(why);
  aborted_ = true;
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    if (cores_[i].parked) wake(core_id{static_cast<int>(i)}, cores_[i].clock);
  }
}

std::string engine::deadlock_report(const std::string& what) const {
  std::string report = "simulated chip: " + what;
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    const simulated_core& core = cores_[i];
    if (core.ended) continue;
    const std::string about = describe_ ? describe_(core_id{static_cast<int>(i)}) : std::string();
    report += "\n  core " + std::to_string(i) + (about.empty() ? about : ", " + about + ",");
    if (core.waits_for == nullptr) {
      report += " polls";
    } else {
      report += (core.parked ? " waits for " : " polls, last for ") + std::string(core.waits_for) +
                " " + std::to_string(core.waits_at);
    }
    report += (core.parked ? " since " : " at ") +
              std::to_string(core.clock.femtoseconds / 1'000'000) + " ns";
  }
  return report;
}

std::exception_ptr engine::deadlock() const {
  return std::make_exception_ptr(
      error(std::error_code(EDEADLK, std::generic_category()), deadlock_report("deadlock")));
}

/// Runs the body on the running core.
void engine::run_core() noexcept {
  const int core = fibers_.running();
  try {
    (*body_)(core_id{core});
  } catch (...) {
    fail(std::current_exception());
  }
  cores_[static_cast<std::size_t>(core)].ended = true;
  --unfinished_;
}

void engine::run(const std::function<void(core_id)>& body) {
  body_ = &body;
  unfinished_ = static_cast<int>(cores_.size());
  for (int i = 0; i < unfinished_; ++i) ready_.push({cores_[static_cast<std::size_t>(i)].clock, i});
  fibers_.enter(ready_.pop().core);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace creek::scc_backend

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
    : cores_(cores), ready_(cores), fibers_(cores, stack_bytes, [this] {
        run_core();
        switch_to_next();
      }) {}

void engine::let_earlier_run(virtual_time time) {
  resume(ready_.exchange({time, fibers_.running()}));
}

/// Switches to the core of an event.
void engine::resume(core_event next) {
  simulated_core& core = cores_[next.core];
  core.clock = std::max(core.clock, next.time);
  if (&core == here_) return;
  here_ = &core;
  fibers_.switch_to(next.core);
}

/// Called when the running core has given up or ended: switches to the earliest core.
void engine::switch_to_next() {
  if (ready_.empty()) {
    if (cores_.have_all_ended()) return fibers_.leave();
    fail(std::make_exception_ptr(
        error(std::error_code(EDEADLK, std::generic_category()), cores_.report("deadlock"))));
  }
  resume(ready_.pop());
}

void engine::park(const char* what, std::uint64_t address) {
  failure_.throw_if_aborted();
  here_->parked = true;
  polls(what, address);
  switch_to_next();
  failure_.throw_if_aborted();
}

bool engine::park_until(const char* what, std::uint64_t address, virtual_time time) {
  simulated_core& self = *here_;
  failure_.throw_if_aborted();
  self.parked = self.timed = true;
  polls(what, address);
  ready_.push({std::max(time, self.clock), fibers_.running()});
  switch_to_next();
  const bool woken = !std::exchange(self.parked, false);
  self.timed = false;
  failure_.throw_if_aborted();
  return woken;
}

void engine::wake(core_id core, virtual_time time) {
  simulated_core& woken = cores_[core.value];
  assert(woken.parked);  // otherwise it is in the heap already
  woken.parked = false;
  if (std::exchange(woken.timed, false)) ready_.erase(core.value);
  ready_.push({std::max(time, woken.clock), core.value});
}

void engine::fail(std::exception_ptr why) noexcept {
  failure_.record(std::move(why));
  for (int core = 0; core < cores_.size(); ++core) {
    if (cores_[core].parked) wake(core_id{core}, cores_[core].clock);
  }
}

/// Runs the body on the running core.
void engine::run_core() noexcept {
  simulated_core& self = *here_;
  try {
    (*body_)(running());
  } catch (...) {
    fail(std::current_exception());
  }
  self.ended = true;
}

void engine::run(const std::function<void(core_id)>& body) {
  body_ = &body;
  for (int core = 0; core < cores_.size(); ++core) ready_.push({cores_[core].clock, core});
  const int first = ready_.pop().core;
  here_ = &cores_[first];
  fibers_.enter(first);
  failure_.rethrow();
}

}  // namespace creek::scc_backend

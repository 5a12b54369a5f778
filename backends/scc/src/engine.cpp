// SPDX-License-Identifier: Apache-2.0
// The heap of clocks, the switching between cores, and the end of a run.
#include "engine.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <system_error>
#include <utility>

#include <creek/core/error.hpp>

namespace creek::scc_backend {

engine::engine(int cores, std::size_t stack_bytes)
    : stack_bytes_((stack_bytes + 4095) / 4096 * 4096),
      cores_(std::make_unique<simulated_core[]>(static_cast<std::size_t>(cores))),
      count_(cores) {
  ready_.reserve(static_cast<std::size_t>(cores));
  for (int i = 0; i < cores; ++i) {
    std::byte* low = map_guarded(stack_bytes_);
    if (low == nullptr) {
      const int reason = errno;
      count_ = i;
      for (int made = 0; made < i; ++made) {
        release_context(cores_[made]);
        unmap_guarded(cores_[made].stack_low, stack_bytes_);
      }
      throw error(std::error_code(reason, std::generic_category()),
                  "simulated chip: cannot map stacks for " + std::to_string(cores) + " cores");
    }
    cores_[i].home = this;
    cores_[i].on = &cores_[i];
    prepare_context(cores_[i], low, stack_bytes_, &engine::core_main);
  }
}

engine::~engine() {
  for (int i = 0; i < count_; ++i) {
    std::byte* low = cores_[i].stack_low;
    release_context(cores_[i]);
    unmap_guarded(low, stack_bytes_);
  }
}

// --- The heap -----------------------------------------------------------------------------------

void engine::push(key added) {
  ready_.push_back(added);
  sift_up(ready_.size() - 1, added);
}

void engine::sift_up(std::size_t at, key moved) {
  while (at > 0) {
    const std::size_t parent = (at - 1) / 4;
    if (!(moved < ready_[parent])) break;
    ready_[at] = ready_[parent];
    at = parent;
  }
  ready_[at] = moved;
}

/// Puts `moved` into the place of a removed key, or below it.
void engine::sift_down(std::size_t at, key moved) {
  const std::size_t size = ready_.size();
  for (;;) {
    const std::size_t first = 4 * at + 1;
    if (first >= size) break;
    std::size_t least = first;
    for (std::size_t child = first + 1; child < std::min(first + 4, size); ++child) {
      if (ready_[child] < ready_[least]) least = child;
    }
    if (!(ready_[least] < moved)) break;
    ready_[at] = ready_[least];
    at = least;
  }
  ready_[at] = moved;
}

engine::key engine::pop() {
  const key earliest = ready_.front();
  const key last = ready_.back();
  ready_.pop_back();
  if (!ready_.empty()) sift_down(0, last);
  return earliest;
}

void engine::take_out(int core) {
  std::size_t at = 0;
  while (ready_[at].core != core) ++at;
  const key last = ready_.back();
  ready_.pop_back();
  if (at == ready_.size()) return;
  sift_down(at, last);
  sift_up(at, ready_[at]);
}

// --- Cores --------------------------------------------------------------------------------------

void engine::switch_to(int core) {
  simulated_core& here = cores_[running_];
  running_ = core;
  ++switches_;
  void* kept = thread_state_ != nullptr ? thread_state_->save() : nullptr;
  switch_stacks(*here.on, *cores_[core].on);
  if (thread_state_ != nullptr) thread_state_->restore(kept);
}

void engine::continue_on(switch_context& other) noexcept {
  switch_context& from = stack();
  cores_[running_].on = &other;
  switch_stacks(from, other);
}

void engine::leave_unfinished() noexcept {
  switch_stacks(stack(), native_);
}

void engine::let_earlier_run(virtual_time time) {
  const key next = ready_.front();
  sift_down(0, {time, running_});
  cores_[next.core].clock = std::max(cores_[next.core].clock, next.time);
  switch_to(next.core);
}

/// Called when the running core has given up or ended: switches to the earliest core.
void engine::switch_to_next() {
  if (ready_.empty() && unfinished_ > 0) fail(deadlock());
  simulated_core& here = cores_[running_];
  if (ready_.empty()) {
    switch_stacks(*here.on, native_);
    return;
  }
  const key next = pop();
  cores_[next.core].clock = std::max(cores_[next.core].clock, next.time);
  if (next.core != running_) switch_to(next.core);
}

void engine::park(const char* what, std::uint64_t address) {
  simulated_core& here = cores_[running_];
  throw_if_aborted();
  here.parked = true;
  here.waits_for = what;
  here.waits_at = address;
  switch_to_next();
  throw_if_aborted();
}

bool engine::park_until(const char* what, std::uint64_t address, virtual_time time) {
  simulated_core& here = cores_[running_];
  throw_if_aborted();
  here.parked = here.timed = true;
  here.waits_for = what;
  here.waits_at = address;
  push({std::max(time, here.clock), running_});
  switch_to_next();
  const bool woken = !std::exchange(here.parked, false);
  here.timed = false;
  throw_if_aborted();
  return woken;
}

void engine::wake(core_id core, virtual_time time) {
  simulated_core& woken = cores_[core.index()];
  assert(woken.parked);  // otherwise it is in the heap already
  woken.parked = false;
  if (std::exchange(woken.timed, false)) take_out(core.value);
  push({std::max(time, woken.clock), core.value});
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
  for (int i = 0; i < count_; ++i) {
    if (cores_[i].parked) wake(core_id{i}, cores_[i].clock);
  }
}

std::string engine::deadlock_report(const std::string& what) const {
  std::string report = "simulated chip: " + what;
  for (int i = 0; i < count_; ++i) {
    const simulated_core& core = cores_[i];
    if (core.ended) continue;
    const std::string about = describe_ ? describe_(core_id{i}) : std::string();
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

void engine::run_core(int core) noexcept {
  try {
    (*body_)(core_id{core});
  } catch (...) {
    fail(std::current_exception());
  }
  cores_[core].ended = true;
  --unfinished_;
}

void engine::core_main(switch_context& self, switch_context&) {
  auto& core = static_cast<simulated_core&>(self);
  core.home->run_core(core.home->running_);
  core.home->switch_to_next();
}

void engine::run(const std::function<void(core_id)>& body) {
  body_ = &body;
  unfinished_ = count_;
  adopt_thread_stack(native_);
  for (int i = 0; i < count_; ++i) push({cores_[i].clock, i});
  running_ = pop().core;
  switch_stacks(native_, cores_[running_]);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace creek::scc_backend

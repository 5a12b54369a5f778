// SPDX-License-Identifier: Apache-2.0
// Records events and charges time.
#include "recorder.hpp"

#include <algorithm>
#include <utility>

namespace creek::host_backend {

namespace {

/// Opens a slice. The name has to live until the trace is written.
void begin_named(trace::track& track, const char* name) noexcept {
  track.record(trace::event_kind::begin, tick_clock::now(), name, trace::no_argument);
}

}  // namespace

void recorder::profile_from(ticks begin, idle first) noexcept {
  charged_to_ = begin;
  idle_ = first;
  profiles_ = true;
}

void recorder::trace_on(trace::track& track, std::int64_t first_arrow) noexcept {
  next_arrow_ = first_arrow;
  track_.store(&track, std::memory_order_release);
}

void recorder::task_begins(task_times& task, const char* kind, bool stolen) noexcept {
  if (profiles_) charge_task(task, kind);
  trace::track* const on = track();
  if (on == nullptr) return;
  begin_named(*on, kinds_.of(kind).name);
  if (stolen && stolen_by_ != 0) trace::flow_end(on, "steal", std::exchange(stolen_by_, 0));
}

void recorder::task_ends() noexcept {
  if (profiles_) task_charged(true);
  end_slice();
}

void recorder::charge_task(task_times& task, const char* kind) noexcept {
  charge();
  task = {.kind = kind, .ran = {}, .waited = {}, .left_at = {}, .outer = running_};
  running_ = &task;
}

void recorder::task_charged(bool ran) noexcept {
  charge();
  const task_times& task = *std::exchange(running_, running_->outer);
  if (ran) {
    task_kind& sum = kinds_.of(task.kind);
    ++sum.count;
    sum.ran = sum.ran + task.ran;
    sum.longest = std::max(sum.longest, task.ran);
    sum.waited = sum.waited + task.waited;
  } else {
    ran_ = ran_ - task.ran;
    ticks& searching = spent_[static_cast<std::size_t>(idle::searching)];
    searching = searching + task.ran;
  }
}

recorder::absence recorder::leave() noexcept {
  absence left;
  if (trace::track* const on = track()) {
    left.arrow = next_arrow_++;
    trace::flow_start(on, "wait", left.arrow);
    trace::end(on);
  }
  left.times = begin_idling(idle::searching);
  return left;
}

void recorder::go_on(absence left, const char* kind) noexcept {
  end_idling(left.times);
  trace::track* const on = track();
  if (on == nullptr) return;
  begin_named(*on, kinds_.of(kind).name_resumed);
  if (left.arrow != 0) trace::flow_end(on, "wait", left.arrow);
}

task_times* recorder::begin_idling(idle next) noexcept {
  becomes(next);
  task_times* const task = std::exchange(running_, nullptr);
  if (task != nullptr) task->left_at = charged_to_;
  return task;
}

void recorder::end_idling(task_times* task) noexcept {
  becomes(idle::searching);
  running_ = task;
  // Clocks of two processors may disagree by a few ticks.
  if (task != nullptr && charged_to_ > task->left_at) {
    task->waited = task->waited + (charged_to_ - task->left_at);
  }
}

void recorder::becomes(idle next) noexcept {
  charge();
  idle_ = next;
}

void recorder::begin_slice(trace::name what) noexcept {
  trace::begin(track(), what);
}

void recorder::end_slice() noexcept {
  trace::end(track());
}

void recorder::note_steal(const recorder* maker, ticks at) noexcept {
  trace::track* const here = track();
  const trace::track* const there = maker != nullptr ? maker->track() : nullptr;
  if (here == nullptr || there == nullptr || here == there) return;
  stolen_by_ = next_arrow_++;
  trace::flow_start_on(*there, at == ticks{} ? tick_clock::now() : at, here, "steal", stolen_by_);
}

/// Does nothing without a profile.
void recorder::charge(ticks now) noexcept {
  if (!profiles_ || now <= charged_to_) return;
  const ticks span = now - charged_to_;
  charged_to_ = now;
  if (running_ != nullptr) {
    running_->ran = running_->ran + span;
    ran_ = ran_ + span;
  } else {
    ticks& spent = spent_[static_cast<std::size_t>(idle_)];
    spent = spent + span;
  }
}

}  // namespace creek::host_backend

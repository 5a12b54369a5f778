// SPDX-License-Identifier: Apache-2.0
// Charges the time of a worker.
#include "worker_profile.hpp"

#include <algorithm>
#include <new>

#include <creek/tasking/waiting.hpp>

namespace creek::host_backend {

void worker_profile::end() noexcept {
  charge();
  task_times& task = *std::exchange(running_, running_->outer);
  totals& sum = totals_of(task.kind);
  ++sum.count;
  sum.ran = sum.ran + task.ran;
  sum.longest = std::max(sum.longest, task.ran);
  sum.waited = sum.waited + task.waited;
}

void worker_profile::call_off() noexcept {
  charge();
  const task_times& task = *std::exchange(running_, running_->outer);
  ran_ = ran_ - task.ran;
  ticks& searching = spent_[static_cast<std::size_t>(idle::searching)];
  searching = searching + task.ran;
}

task_times* worker_profile::leave(idle next) noexcept {
  becomes(next);
  task_times* const task = std::exchange(running_, nullptr);
  if (task != nullptr) task->left_at = charged_to_;
  return task;
}

void worker_profile::go_on(task_times* task) noexcept {
  becomes(idle::searching);
  running_ = task;
  // Clocks of two processors may disagree by a few ticks.
  if (task != nullptr && charged_to_ > task->left_at) {
    task->waited = task->waited + (charged_to_ - task->left_at);
  }
}

void worker_profile::charge(ticks now) noexcept {
  if (now <= charged_to_) return;
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

worker_profile::totals& worker_profile::totals_of(const char* kind) noexcept {
  if (kind == nullptr) return unnamed_;
  try {
    const auto [found, is_new] = kinds_.try_emplace(kind);
    if (is_new) found->second.name = ext::readable_name(kind);
    return found->second;
  } catch (const std::bad_alloc&) {
    return unnamed_;
  }
}

}  // namespace creek::host_backend

// SPDX-License-Identifier: Apache-2.0
#include "completed_calls.hpp"

#include "worker_call.hpp"

namespace creek::detail {

void completed_calls::add(worker_call& one) noexcept {
  const std::lock_guard lock(mutex_);
  one.next_completed = nullptr;
  (last_ != nullptr ? last_->next_completed : first_) = &one;
  last_ = &one;
  is_empty_.store(false, std::memory_order_release);
  added_.notify_one();
}

worker_call* completed_calls::take() noexcept {
  if (empty()) return nullptr;
  const std::lock_guard lock(mutex_);
  worker_call* const taken = first_;
  first_ = taken->next_completed;
  if (first_ != nullptr) return taken;
  last_ = nullptr;
  is_empty_.store(true, std::memory_order_relaxed);
  return taken;
}

bool completed_calls::wait_for(std::chrono::nanoseconds time) {
  std::unique_lock lock(mutex_);
  return added_.wait_for(lock, time, [&] { return first_ != nullptr; });
}

}  // namespace creek::detail

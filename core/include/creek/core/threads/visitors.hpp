// SPDX-License-Identifier: Apache-2.0
// Threads of others inside an object that may end meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include <creek/core/threads/sanitizer.hpp>

namespace creek {

/// Counts foreign threads while they hand something over: that may already run, and the scheduler
/// be shut down, before the thread has left. The scheduler's memory outlives every visit.
class visitors {
 public:
  void enter() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  void leave() noexcept {
    sanitizer::releases(&count_);
    count_.fetch_sub(1, std::memory_order_release);
  }
  void wait_until_gone() noexcept {
    while (count_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
    sanitizer::acquired(&count_);
  }

 private:
  std::atomic<std::uint32_t> count_{0};
};

/// One call of a thread that may be foreign.
class visit {
 public:
  visit(visitors& all, bool is_foreign) noexcept : all_(is_foreign ? &all : nullptr) {
    if (all_ != nullptr) all_->enter();
  }
  ~visit() {
    if (all_ != nullptr) all_->leave();
  }
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;

 private:
  visitors* all_;
};

}  // namespace creek

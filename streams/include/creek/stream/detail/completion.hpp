// SPDX-License-Identifier: Apache-2.0
// The end of a task, or of several, that one strand waits for: again and again, without memory of
// its own.
#pragma once

#include <atomic>

#include <creek/core/threads/sanitizer.hpp>
#include <creek/tasking/ext/executor.hpp>

namespace creek::stream::detail {

class completion {
 public:
  /// Before the task begins; nobody waits.
  void reset() noexcept { waiter_.store(nullptr, std::memory_order_relaxed); }
  /// At the end of the task. The waiter may destroy this at once.
  void finish() noexcept {
    sanitizer::releases(&waiter_);
    ext::strand* const waiter = waiter_.exchange(&finished(), std::memory_order_acq_rel);
    if (waiter != nullptr) waiter->home->resume(waiter);
  }
  [[nodiscard]] bool is_finished() const noexcept {
    const bool is_over = waiter_.load(std::memory_order_acquire) == &finished();
    sanitizer::acquired(&waiter_);
    return is_over;
  }
  /// `what` is for reports.
  void wait(const char* what) {
    if (!is_finished()) ext::suspend_here(&publish, this, what);
    (void)is_finished();  // all that the task did happened before
  }

 private:
  /// In place of a strand that waits.
  static ext::strand& finished() noexcept {
    static constinit ext::strand mark;
    return mark;
  }
  static bool publish(void* self, ext::strand* waiter) {
    ext::strand* none = nullptr;
    return static_cast<completion*>(self)->waiter_.compare_exchange_strong(
        none, waiter, std::memory_order_acq_rel);
  }

  std::atomic<ext::strand*> waiter_{nullptr};
};

}  // namespace creek::stream::detail

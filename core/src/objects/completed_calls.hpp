// SPDX-License-Identifier: Apache-2.0
// The calls that workers have run, on their way back to the thread that answers them.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include <creek/core/language.hpp>

namespace creek::detail {

class worker_call;

/// A queue from many threads to one, which may sleep until it has an item. An item is added, and
/// the consumer looks before it sleeps, under the lock: so no wake-up is lost.
class completed_calls {
 public:
  /// Any thread.
  void add(worker_call& one) noexcept;

  // Called by the consumer.
  [[nodiscard]] bool empty() const noexcept { return is_empty_.load(std::memory_order_acquire); }
  /// Takes the oldest call; returns null if there is none.
  [[nodiscard]] worker_call* take() noexcept;
  /// Sleeps until there is a call, at most `time`. Returns whether there is one.
  bool wait_for(std::chrono::nanoseconds time);

 private:
  std::mutex mutex_;
  std::condition_variable added_;
  worker_call* first_ = nullptr;
  worker_call* last_ = nullptr;
  std::atomic<bool> is_empty_{true};
};

}  // namespace creek::detail

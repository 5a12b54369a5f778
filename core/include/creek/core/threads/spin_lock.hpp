// SPDX-License-Identifier: Apache-2.0
// Waiting for another thread of this process that is between two instructions. Waits that may take
// longer park (futex.hpp) or suspend their task.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include <creek/core/measuring/clock.hpp>
#include <creek/core/threads/sanitizer.hpp>

namespace creek {

/// Polls `condition`: with pauses at first, then yielding the core, in case the other thread was
/// preempted there.
template <class Condition>
void spin_briefly(Condition condition) noexcept {
  for (int round = 0; !condition(); ++round) {
    if (round < 64) {
      cpu_pause();
    } else {
      std::this_thread::yield();
    }
  }
}

/// Mutual exclusion for a few instructions. One word; not fair, not recursive.
class spin_lock {
 public:
  void lock() noexcept {
    spin_briefly([this] { return try_lock(); });
  }
  bool try_lock() noexcept {
    if (locked_.load(std::memory_order_relaxed) != 0 ||
        locked_.exchange(1, std::memory_order_acquire) != 0) {
      return false;
    }
    sanitizer::acquired(&locked_);
    return true;
  }
  void unlock() noexcept {
    sanitizer::releases(&locked_);
    locked_.store(0, std::memory_order_release);
  }

 private:
  std::atomic<std::uint32_t> locked_{0};
};

}  // namespace creek

// SPDX-License-Identifier: Apache-2.0
// A spin lock on the test-and-set register of a core, with randomised exponential backoff or none.
// Sources: [Anderson 1990]; with such registers [Reble 2011].
#pragma once

#include <algorithm>
#include <cstdint>

#include <creek/core/memory.hpp>

namespace creek {

/// Behaviour of a core between two attempts to lock: `spin` tries again at once, as RCCE does;
/// `backoff` waits for a growing, random time [Reble 2011].
enum class lock_retry { spin, backoff };

/// The handle of one core on the lock; a BasicLockable, so std::lock_guard and std::unique_lock
/// fit. Cheapest when free; unfair: a core may wait for long under contention. The register of a
/// core is also the lock of its deque, so do not nest the two.
template <memory_policy Memory>
class test_and_set_lock {
 public:
  test_and_set_lock(Memory& memory, core_id core, lock_retry retry = lock_retry::backoff) noexcept
      : memory_{&memory},
        core_{core},
        retry_{retry},
        random_{static_cast<std::uint32_t>(memory.self().value) * 2654435761u + 1} {}

  /// Waits for the lock. Throws only if the run is aborted.
  void lock() {
    if (try_lock()) return;
    if (retry_ == lock_retry::spin) {
      while (!try_lock()) memory_->pause(cycles{1});  // ends in an aborted run
      return;
    }
    // A failed try costs the holder's register a request: the gap grows up to about the time that
    // all other cores need for a short critical section each.
    for (std::uint32_t gap = first_gap; !try_lock(); gap = std::min(2 * gap, last_gap)) {
      memory_->pause(cycles{gap / 2 + next_random() % gap});
    }
  }
  [[nodiscard]] bool try_lock() { return memory_->test_and_set(core_); }
  void unlock() { memory_->clear(core_); }

 private:
  static constexpr std::uint32_t first_gap = 64;
  static constexpr std::uint32_t last_gap = 16384;

  // Linear congruential, as [Reble 2011]: a multiplication and an addition, no memory.
  std::uint32_t next_random() noexcept {
    random_ = random_ * 1664525u + 1013904223u;
    return random_ >> 16;
  }

  Memory* memory_;
  core_id core_;
  lock_retry retry_;
  std::uint32_t random_;
};

}  // namespace creek

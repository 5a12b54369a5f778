// SPDX-License-Identifier: Apache-2.0
// The place of a worker: whether its own thread or a borrower acts as the worker.
#pragma once

#include <atomic>
#include <cstdint>

#include <creek/core/threads/futex.hpp>
#include <creek/core/threads/sanitizer.hpp>

namespace creek::host_backend {

/// Held by whoever acts as the worker and may touch its data; vacant while the worker's thread
/// sleeps. Taking the place synchronises with the one who left it. Model: tests/model/caller.pml.
class worker_place {
 public:
  /// Called by the worker's thread, which does not touch the worker's data afterwards.
  void vacate() noexcept {
    sanitizer::releases(&state_);
    state_.store(vacant, std::memory_order_release);
  }
  /// Called by the worker's thread: takes the vacant place again.
  [[nodiscard]] bool take() noexcept { return move(vacant, held); }
  /// Called by the worker's thread: takes what a borrower has given up.
  [[nodiscard]] bool take_back() noexcept { return move(returned, held); }
  /// Called by the worker's thread: sleeps while the place is lent.
  void wait() noexcept {
    move(lent, awaited);
    while (state_.load(std::memory_order_relaxed) == awaited) futex_wait(state_, awaited);
  }

  /// Called by a borrower: takes the place if it is vacant.
  [[nodiscard]] bool borrow() noexcept { return move(vacant, lent); }
  /// Called by the borrower: leaves the place as it was.
  void leave() noexcept { pass(vacant); }
  /// Called by the borrower, which then calls the worker: its thread has to go on at once.
  void give_up() noexcept { pass(returned); }

 private:
  enum state : std::uint32_t { held, vacant, lent, awaited, returned };

  bool move(state from, state to) noexcept {
    std::uint32_t seen = from;
    if (state_.load(std::memory_order_relaxed) != from ||
        !state_.compare_exchange_strong(seen, to, std::memory_order_acq_rel,
                                        std::memory_order_relaxed)) {
      return false;
    }
    sanitizer::acquired(&state_);
    return true;
  }
  void pass(state to) noexcept {
    sanitizer::releases(&state_);
    if (state_.exchange(to, std::memory_order_acq_rel) == awaited) futex_wake(state_, 1);
  }

  std::atomic<std::uint32_t> state_{held};
};

}  // namespace creek::host_backend

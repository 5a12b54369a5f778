// SPDX-License-Identifier: Apache-2.0
// Suspended strands some of whose tasks have not started.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include <creek/core/threads/spin_lock.hpp>

#include "fiber.hpp"

namespace creek::host_backend {

/// Result of a look at a parked strand.
enum class parked_look : std::uint8_t {
  taken,    ///< what the caller looks for: it looks no further
  keeps,    ///< tasks that are not for the caller
  nothing,  ///< no task, and there will be none until the strand runs again
};

/// Lists the fibers of parked strands: no worker is on them, so thieves reach their tasks only from
/// here. A fiber is added before its strand is published and removes itself when it runs again.
/// fiber::parked names the worker that parked it and is not null in between. A look that finds no
/// task takes the fiber off the list, so a look does not last longer the more strands wait. Looks
/// run under the lock, so a listed fiber cannot leave meanwhile.
class parked_strands {
 public:
  parked_strands() noexcept { ends_.before = ends_.behind = &ends_; }
  parked_strands(const parked_strands&) = delete;
  parked_strands& operator=(const parked_strands&) = delete;

  void add(fiber& suspended) noexcept {
    const std::lock_guard lock(lock_);
    suspended.parked = suspended.on;
    link(suspended);
  }
  void remove(fiber& resumed) noexcept {
    const std::lock_guard lock(lock_);
    resumed.parked = nullptr;
    if (resumed.behind != nullptr) unlink(resumed);
  }
  bool empty() const noexcept { return count_.load(std::memory_order_acquire) == 0; }
  /// Calls `look(fiber)` for one fiber after the other, the oldest first, until it returns
  /// parked_look::taken. Returns whether it did.
  template <class Look>
  bool any_of(Look look) noexcept {
    if (empty()) return false;
    const std::lock_guard lock(lock_);
    for (parked_link* next = ends_.behind; next != &ends_;) {
      parked_link& seen = *std::exchange(next, next->behind);
      const parked_look found = look(static_cast<fiber&>(seen));
      if (found == parked_look::taken) return true;
      if (found == parked_look::nothing) unlink(seen);
    }
    return false;
  }

 private:
  void link(parked_link& added) noexcept {
    added.before = ends_.before;
    added.behind = &ends_;
    ends_.before = added.before->behind = &added;
    count_.fetch_add(1, std::memory_order_release);
  }
  void unlink(parked_link& listed) noexcept {
    listed.before->behind = listed.behind;
    listed.behind->before = listed.before;
    listed = {};
    count_.fetch_sub(1, std::memory_order_relaxed);
  }

  alignas(64) spin_lock lock_;
  std::atomic<std::uint32_t> count_{0};
  parked_link ends_;  ///< before the oldest and behind the newest
};

}  // namespace creek::host_backend

// SPDX-License-Identifier: Apache-2.0
// Suspended strands some of whose tasks have not started.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include <creek/core/threads/spin_lock.hpp>

#include "fiber.hpp"

namespace creek::host_backend {

/// Lists the fibers of parked strands: no worker is on them, so thieves reach their tasks only from
/// here. A fiber is added before its strand is published and removes itself when it runs again;
/// fiber::parked names the worker that parked it and is not null while it is listed. Callbacks run
/// under the lock, so a listed fiber cannot leave meanwhile.
class parked_strands {
 public:
  void add(fiber& suspended) noexcept {
    const std::lock_guard lock(lock_);
    suspended.parked = suspended.on;
    fibers_.push_back(&suspended);
    count_.fetch_add(1, std::memory_order_release);
  }
  void remove(fiber& resumed) noexcept {
    const std::lock_guard lock(lock_);
    resumed.parked = nullptr;
    std::erase(fibers_, &resumed);
    count_.fetch_sub(1, std::memory_order_relaxed);
  }
  bool empty() const noexcept { return count_.load(std::memory_order_acquire) == 0; }
  /// Returns whether `accept(fiber)` returned true for one, the last that it was called for.
  template <class Accept>
  bool any_of(Accept accept) noexcept {
    if (empty()) return false;
    const std::lock_guard lock(lock_);
    return std::any_of(fibers_.begin(), fibers_.end(), [&](fiber* each) { return accept(*each); });
  }

 private:
  alignas(64) spin_lock lock_;
  std::vector<fiber*> fibers_;
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace creek::host_backend

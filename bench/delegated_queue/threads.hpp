// SPDX-License-Identifier: Apache-2.0
// The peers of this workload that share a std::deque under a lock.
#pragma once
#include <deque>
#include <mutex>

#include "config.hpp"
#include "harness/threads.hpp"

namespace bench::delegated_queue {

template <class Lock, std::size_t AtOnce>
sample run_locked(const settings& s) {
  struct alignas(64) {
    Lock lock;
    std::deque<item> items;
  } shared;
  return run<AtOnce>(
      s, [&](const auto& body) { return time_threads(s.workers, body); },
      [&](std::span<const item> added) {
        const std::lock_guard hold(shared.lock);
        shared.items.insert(shared.items.end(), added.begin(), added.end());
      },
      [&](std::span<item> wanted) {
        const std::lock_guard hold(shared.lock);
        for (item& each : wanted) {
          each = shared.items.front();
          shared.items.pop_front();
        }
      });
}

}  // namespace bench::delegated_queue

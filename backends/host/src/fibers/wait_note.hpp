// SPDX-License-Identifier: Apache-2.0
// Note of what a suspended fiber waits for.
#pragma once

#include <atomic>
#include <cstdint>

#include <creek/core/measuring/clock.hpp>

namespace creek::host_backend {

/// Written by the fiber's strand, read by any thread for reports: parts of different waits may
/// then be read together. The texts live for ever.
class wait_note {
 public:
  struct wait {
    const char* what = nullptr;  ///< null: the strand does not wait
    const char* task = nullptr;  ///< name of the kind of task that waits; null: of run()
    ticks since{};
  };

  void set(const wait& now) noexcept {
    task_.store(now.task, std::memory_order_relaxed);
    since_.store(now.since, std::memory_order_relaxed);
    what_.store(now.what, std::memory_order_release);
  }
  wait get() const noexcept {
    const char* const what = what_.load(std::memory_order_acquire);
    return {what, task_.load(std::memory_order_relaxed), since_.load(std::memory_order_relaxed)};
  }

 private:
  std::atomic<const char*> what_{nullptr};
  std::atomic<const char*> task_{nullptr};
  std::atomic<ticks> since_{};
};

}  // namespace creek::host_backend

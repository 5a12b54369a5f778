// SPDX-License-Identifier: Apache-2.0
// Finds out that a runtime hangs.
#pragma once

#include <atomic>
#include <cstdint>

#include "fibers/fiber_pool.hpp"
#include "workers/shutdown.hpp"

namespace creek::host_backend {

/// Reports, once, that for some time all workers have slept while strands were suspended. Costs
/// nothing but a limit to the sleep of the last worker that falls asleep then.
class hang_watch {
 public:
  hang_watch(worker_set& workers, const idle_state& idle, const shutdown& ending,
             const fiber_pool& fibers) noexcept
      : workers_(workers), idle_(idle), shutdown_(ending), fibers_(fibers) {}

  /// futex_wait() for a worker that counts as asleep. May return early.
  void sleep(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
             std::uint32_t bits) noexcept;

 private:
  bool all_wait() const noexcept;
  void report() const noexcept;

  worker_set& workers_;
  const idle_state& idle_;
  const shutdown& shutdown_;
  const fiber_pool& fibers_;
  std::atomic<bool> reported_{false};
};

}  // namespace creek::host_backend

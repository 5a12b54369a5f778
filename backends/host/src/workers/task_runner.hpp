// SPDX-License-Identifier: Apache-2.0
// Runs one task that a search found.
#pragma once

#include "power_governor.hpp"
#include "scheduling/found_work.hpp"
#include "scheduling/ready_work.hpp"
#include "worker.hpp"

namespace creek::host_backend {

/// Runs stolen and submitted tasks, each on the fiber of its caller, and keeps account of them:
/// counters, trace, profile, power policy, and whether stealing was worth it.
class task_runner {
 public:
  explicit task_runner(ready_work& work) noexcept
      : work_(work), governor_(work.waking().governor()) {}

  /// Runs a slot or a submitted task. Returns the strand that waits for just this one, or null.
  ext::strand* run(fiber& self, found_work work) noexcept;
  /// Runs the newest task of `from` at or above `bottom`, as the owner of that; returns false if
  /// there is none.
  static bool run_newest(fiber& self, ext::task_stack& from, ext::task_slot* bottom) noexcept {
    if (self.on->records.load(std::memory_order_relaxed) == nullptr) [[likely]]
      return from.run_newest(bottom);
    return run_newest_recorded(self, from, bottom);
  }

 private:
  [[gnu::cold]] static bool run_newest_recorded(fiber& self, ext::task_stack& from,
                                                ext::task_slot* bottom) noexcept;
  static ext::strand* run_stolen(fiber& self, ext::task_slot* slot) noexcept;

  ready_work& work_;
  const power_governor& governor_;
};

}  // namespace creek::host_backend

// SPDX-License-Identifier: Apache-2.0
// Workers that really wait: those that are idle for the second time without a task in between.
// Lowering the clock of a worker that finds its next task at once would cost two clock changes for
// nothing.
#pragma once

#include <chrono>
#include <vector>

#include <creek/core/power_policy.hpp>

namespace creek::power::detail {

class waiting_workers {
 public:
  /// Plan for a worker's first idle time: poll for about as long as a clock takes to change.
  static constexpr idle_plan first_look{idle_policy::poll, std::chrono::microseconds{50}};

  void begin(unsigned workers) { idle_.assign(workers, {}); }
  /// Called on the worker, at each worker_idle(). Returns false the first time: use first_look.
  bool waits(unsigned worker) noexcept {
    const bool before = idle_[worker].is;
    idle_[worker].is = true;
    return before;
  }
  /// Called on the worker, at each task_about_to_run().
  void works(unsigned worker) noexcept { idle_[worker].is = false; }

 private:
  struct alignas(64) flag {
    bool is = false;
  };
  std::vector<flag> idle_;
};

}  // namespace creek::power::detail

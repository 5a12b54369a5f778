// SPDX-License-Identifier: Apache-2.0
// Synchronous call of a method of an object on a sleeping worker, until it returns. The caller has
// just been busy elsewhere and is awake. n is the number of calls; before each the process is left
// idle as in the workload `wakeup`. Compare with the limits `futex_trip` and `futex_trip_far`: if
// the kernel puts both threads on one core, the caller must make room there.
#pragma once
#include <thread>

#include "harness/invoked.hpp"
#include "wakeup/config.hpp"

namespace bench::invoke_wake {

inline constexpr description what{.name = "invoke_wake",
                                  .about = "call of a method on another worker asleep (median)",
                                  .unit = "ns",
                                  .full = 200,
                                  .quick = 40,
                                  .smoke = 3,
                                  .min_workers = 2,
                                  .warmup = false,
                                  .groups = "invoke",
                                  .bounds = "futex_trip futex_trip_far"};

/// Runs once: `trip()` calls add() of the counter where it lives and returns when add() has
/// returned. The caller fills in the answer from the counter afterwards.
template <class Trip>
sample run(const settings& s, const Trip& trip) {
  std::vector<double> times;
  for (std::int64_t i = 0; i < s.n; ++i) {
    std::this_thread::sleep_for(wakeup::gap);
    times.push_back(timed(trip));
  }
  return median_sample(std::move(times), 0);
}

}  // namespace bench::invoke_wake

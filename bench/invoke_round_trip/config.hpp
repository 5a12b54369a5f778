// SPDX-License-Identifier: Apache-2.0
// Synchronous call of an almost empty method (it counts) of an object on another worker, with both
// workers awake and polling: the call goes there, its return comes back. Compare with the limit
// `ping_pong`, one cache line there and one back, measured in the same way.
#pragma once
#include "harness/invoked.hpp"

namespace bench::invoke_round_trip {

inline constexpr description what{.name = "invoke_round_trip",
                                  .about = "call of a method on another worker awake (median)",
                                  .unit = "ns",
                                  .full = 640'000,
                                  .quick = 64'000,
                                  .smoke = 640,
                                  .min_workers = 2,
                                  .groups = "invoke",
                                  .bounds = "ping_pong"};

/// Runs once: `trip()` calls add() of the counter where it lives and returns when add() has
/// returned. The caller fills in the answer from the counter afterwards.
template <class Trip>
sample run(const settings& s, const Trip& trip) {
  return median_of_parts(s.n, trip);
}

}  // namespace bench::invoke_round_trip

// SPDX-License-Identifier: Apache-2.0
// All workers increment one shared counter, n times together: by sending it their increments
// (creek), under a lock (the peers mutex and spin), or by an instruction (atomic).
#pragma once
#include "harness/invoked.hpp"

namespace bench::delegated_counter {

inline constexpr description what{.name = "delegated_counter",
                                  .about = "increment of a counter that all workers share",
                                  .unit = "ns/increment",
                                  .full = 2'000'000,
                                  .quick = 1'000'000,
                                  .smoke = 1000,
                                  .min_workers = 2,
                                  .groups = "invoke"};

inline constexpr description merged{.name = "delegated_counter_merged",
                                    .about = "the same; creek merges increments at their sender",
                                    .unit = "ns/increment",
                                    .full = 10'000'000,
                                    .quick = 2'000'000,
                                    .smoke = 1000,
                                    .min_workers = 2,
                                    .groups = "invoke"};

/// Returns how many of the increments this worker makes.
inline std::int64_t share(const settings& s, unsigned worker) {
  const part_of_work mine = part_of(s, worker);
  return mine.last - mine.first;
}

}  // namespace bench::delegated_counter

// SPDX-License-Identifier: Apache-2.0
// Single producer and consumers [Prell 2011]: one task spawns n others and waits for them. `spc`
// has empty tasks and measures the cost of a spawn, and what idle workers that only steal cost the
// producer; `spc_1us` has tasks of about a microsecond.
#pragma once
#include "harness/marks.hpp"
#include "harness/workload.hpp"

namespace bench::spc {

inline constexpr description empty{.name = "spc",
                                   .about = "one producer, empty tasks, then a wait",
                                   .unit = "ns/task",
                                   .full = 1'000'000,
                                   .quick = 100'000,
                                   .smoke = 500};
inline constexpr description one_us{.name = "spc_1us",
                                    .about = "one producer, tasks of 1 us, then a wait",
                                    .unit = "ns/task",
                                    .full = 200'000,
                                    .quick = 20'000,
                                    .smoke = 200};

}  // namespace bench::spc

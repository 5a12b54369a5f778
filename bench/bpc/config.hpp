// SPDX-License-Identifier: Apache-2.0
// Bouncing producer and consumers [Dinan 2009]: a producer spawns the next producer
// first and then `consumers` leaf tasks, and waits for all of them. The oldest task is the one
// worth stealing, so the producing moves from worker to worker. A chain is `depth` producers long,
// because each waits inside the one before; n is the number of chains, one after the other.
#pragma once
#include "harness/marks.hpp"
#include "harness/workload.hpp"

namespace bench::bpc {

inline constexpr description empty{.name = "bpc",
                                   .about = "bouncing producer, 9 empty consumers each, waits",
                                   .unit = "ns/task",
                                   .full = 200,
                                   .quick = 20,
                                   .smoke = 1};
inline constexpr description one_us{.name = "bpc_1us",
                                    .about = "bouncing producer, 9 consumers of 1 us each, waits",
                                    .unit = "ns/task",
                                    .full = 40,
                                    .quick = 4,
                                    .smoke = 1};

inline constexpr std::int64_t depth = 500;
inline constexpr std::int64_t consumers = 9;
inline constexpr std::int64_t tasks_per_chain = depth * (consumers + 1);

/// Returns where the consumers of producer `level` (depth-1 .. 0) leave their marks.
inline std::uint8_t* slot(marks& done, std::int64_t level, std::int64_t consumer) {
  return done.slot(level * consumers + consumer);
}

/// Returns the wall time in ns of n chains, one after the other, which write the same marks.
template <class Chain>
double timed_chains(const settings& s, Chain chain) {
  return timed([&] {
    for (std::int64_t i = 0; i < s.n; ++i) chain();
  });
}

inline double tasks(const settings& s) {
  return static_cast<double>(s.n * tasks_per_chain);
}

}  // namespace bench::bpc

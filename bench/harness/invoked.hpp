// SPDX-License-Identifier: Apache-2.0
// Object that the invocation workloads call: it counts its calls, which proves that all ran, and
// needs no lock if they run one at a time. Also divides the work among workers.
#pragma once
#include "workload.hpp"

namespace bench {

/// A counter on its own cache line.
struct alignas(64) counter {
  std::uint64_t calls = 0;
  void add() { ++calls; }
  std::uint64_t get() const { return calls; }
};

inline std::vector<std::uint64_t> calls_of(const std::vector<counter>& counters) {
  std::vector<std::uint64_t> calls;
  for (const counter& each : counters) calls.push_back(each.calls);
  return calls;
}

/// One worker's part of 0 .. n - 1.
struct part_of_work {
  std::int64_t first = 0;
  std::int64_t last = 0;  ///< end of the part, not in it
};
inline part_of_work part_of(const settings& s, unsigned worker) {
  return {s.n * worker / s.workers, s.n * (worker + 1) / s.workers};
}

}  // namespace bench

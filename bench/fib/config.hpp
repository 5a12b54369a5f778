// SPDX-License-Identifier: Apache-2.0
// fib without cutoff: nothing but forks and joins. One unit of work is one fork (one inner node of
// the call tree); n is the argument. `fib_pauses`: the same, begun from the main thread again and
// again after pauses in which workers fall asleep.
#pragma once
#include <chrono>
#include <thread>

#include "harness/workload.hpp"

namespace bench::fib {

inline constexpr description what{.name = "fib",
                                  .about = "fib(n) by fork-join, no cutoff",
                                  .unit = "ns/fork",
                                  .full = 33,
                                  .quick = 27,
                                  .smoke = 15};
inline constexpr description pauses{.name = "fib_pauses",
                                    .about = "fib(n) by fork-join, each after a pause of 2 ms",
                                    .unit = "ns/fork",
                                    .full = {18, 22, 27},
                                    .quick = {18, 22},
                                    .smoke = 10};

/// Returns the inner nodes of the call tree of fib(n): fib(n + 1) - 1.
inline double forks(std::int64_t n) {
  double a = 0;
  double b = 1;
  for (std::int64_t i = 0; i <= n; ++i) {
    const double next = a + b;
    a = b;
    b = next;
  }
  return a - 1;
}

/// Calls fib(n) forty times by `enter(f)`, which runs f in the peer's runtime, with pauses that are
/// not timed.
template <class Fib, class Enter>
sample after_pauses(const settings& s, const Fib& fib, const Enter& enter) {
  constexpr int rounds = 40;
  sample result{.work = forks(s.n) * rounds};
  for (int round = 0; round < rounds; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    result.total_ns += timed([&] { enter([&] { result.answer += fib(s.n); }); });
  }
  return result;
}

}  // namespace bench::fib

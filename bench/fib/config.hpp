// SPDX-License-Identifier: Apache-2.0
// fib without cutoff: nothing but forks and joins. One unit of work is one fork (one inner node of
// the call tree); n is the argument.
#pragma once
#include "harness/workload.hpp"

namespace bench::fib {

inline constexpr description what{.name = "fib",
                                  .about = "fib(n) by fork-join, no cutoff",
                                  .unit = "ns/fork",
                                  .full = 33,
                                  .quick = 27,
                                  .smoke = 15};

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

}  // namespace bench::fib

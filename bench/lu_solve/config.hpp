// SPDX-License-Identifier: Apache-2.0
// A x = b with one right-hand side by LU with partial pivoting, in place, as dgesv. Counted as the
// factorization, 2/3 n^3 operations, so that the ratio to `lu` is the price of solving in time.
#pragma once
#include "harness/dense.hpp"

namespace bench::lu_solve {

inline constexpr description what{.name = "lu_solve",
                                  .about = "A x = b with one b by LU, n by n doubles",
                                  .unit = "GFLOP/s",
                                  .full = {1000, 2000, 4000, 8000},
                                  .quick = 1000,
                                  .smoke = 200,
                                  .rate = true,
                                  .warmup = false,
                                  .groups = "linalg",
                                  .bounds = "fma_peak",
                                  .share_of = "dgemm"};

struct operands {
  std::int64_t n;
  std::vector<double> a = dense::square(dense::input::a, n);
  std::vector<double> x = dense::filled(dense::input::right_side, n);
  std::vector<std::int32_t> pivots = std::vector<std::int32_t>(static_cast<std::size_t>(n));
};

inline std::uint64_t check(operands& o) {
  dense::fill(dense::input::a, o.a);
  return dense::accepted_solution(o.a, o.x);
}

/// Runs once: `solve(operands)` turns the right side in x into the solution.
template <class Solve>
sample run(const settings& s, const Solve& solve) {
  return dense::measure(
      s, dense::cubic(2.0 / 3, s.n), [](std::int64_t n) { return operands{n}; }, solve, check);
}

}  // namespace bench::lu_solve

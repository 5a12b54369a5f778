// SPDX-License-Identifier: Apache-2.0
// LU factorization with partial pivoting, n by n doubles, column-major, in place, as dgetrf: 2/3
// n^3 operations. Checked by solving with the factors.
#pragma once
#include "harness/dense.hpp"

namespace bench::lu {

inline constexpr description what{.name = "lu",
                                  .about = "LU with partial pivoting, n by n doubles",
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
  std::vector<std::int32_t> pivots = std::vector<std::int32_t>(static_cast<std::size_t>(n));
};

/// Checks the factors; row i was exchanged with row pivots[i] - 1, i ascending.
inline std::uint64_t check(operands& o) {
  auto x = dense::filled(dense::input::right_side, o.n);
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::swap(x[i], x.at(static_cast<std::size_t>(o.pivots[i] - 1)));
  }
  dense::solve_lower(o.a, x, true);
  dense::solve_upper(o.a, x);
  dense::fill(dense::input::a, o.a);
  return dense::accepted_solution(o.a, x);
}

/// Runs once: `factor(operands)` leaves the factors in a and the pivots, from 1, as LAPACK does.
template <class Factor>
sample run(const settings& s, const Factor& factor) {
  return dense::measure(
      s, dense::cubic(2.0 / 3, s.n), [](std::int64_t n) { return operands{n}; }, factor, check);
}

}  // namespace bench::lu

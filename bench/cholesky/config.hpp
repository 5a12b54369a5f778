// SPDX-License-Identifier: Apache-2.0
// Cholesky factorization, n by n doubles, column-major, lower triangle in place, as dpotrf: 1/3 n^3
// operations. Checked by solving with the factor.
#pragma once
#include "harness/dense.hpp"

namespace bench::cholesky {

inline constexpr description what{.name = "cholesky",
                                  .about = "Cholesky, lower triangle, n by n doubles",
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
  explicit operands(std::int64_t size) : n(size), a(static_cast<std::size_t>(n * n)) {
    dense::fill_positive_definite(a, n);
  }
  std::int64_t n;
  std::vector<double> a;
};

inline std::uint64_t check(operands& o) {
  auto x = dense::filled(dense::input::right_side, o.n);
  dense::solve_lower(o.a, x, false);
  dense::solve_lower_transposed(o.a, x);
  dense::fill_positive_definite(o.a, o.n);
  return dense::accepted_solution(o.a, x);
}

/// Runs once: `factor(operands)` leaves the factor in the lower triangle of a.
template <class Factor>
sample run(const settings& s, const Factor& factor) {
  return dense::measure(
      s, dense::cubic(1.0 / 3, s.n), [](std::int64_t n) { return operands(n); }, factor, check);
}

}  // namespace bench::cholesky

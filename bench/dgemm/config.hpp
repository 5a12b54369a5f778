// SPDX-License-Identifier: Apache-2.0
// C += A B in double precision, all n by n and column-major: 2 n^3 operations. Checked against a
// random vector: C x - C before x against A (B x).
#pragma once
#include "harness/dense.hpp"

namespace bench::dgemm {

inline constexpr description what{.name = "dgemm",
                                  .about = "C += A B, n by n doubles",
                                  .unit = "GFLOP/s",
                                  .full = {1000, 2000, 4000, 8000},
                                  .quick = 1000,
                                  .smoke = 200,
                                  .rate = true,
                                  .warmup = false,
                                  .groups = "linalg",
                                  .bounds = "fma_peak"};

struct operands {
  std::int64_t n;
  std::vector<double> a = dense::square(dense::input::a, n);
  std::vector<double> b = dense::square(dense::input::b, n);
  std::vector<double> c = dense::square(dense::input::c, n);
};

inline std::uint64_t check(operands& o) {
  const auto x = dense::filled(dense::input::right_side, o.n);
  std::vector<double> bx(x.size()), r(x.size());
  dense::add_product(bx, 1, o.b, x);
  dense::add_product(r, 1, o.c, x);
  dense::fill(dense::input::c, o.c);
  dense::add_product(r, -1, o.c, x);
  dense::add_product(r, -1, o.a, bx);
  return dense::accepted(o.n, dense::norm(r),
                         dense::row_norm(o.a, o.n) * dense::row_norm(o.b, o.n) * dense::norm(x));
}

/// Runs once: `multiply(operands)` computes the product.
template <class Multiply>
sample run(const settings& s, const Multiply& multiply) {
  return dense::measure(
      s, dense::cubic(2, s.n), [](std::int64_t n) { return operands{n}; }, multiply, check);
}

}  // namespace bench::dgemm

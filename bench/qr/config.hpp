// SPDX-License-Identifier: Apache-2.0
// QR factorization, n by n doubles, column-major, in place, as dgeqrf: 4/3 n^3 operations. Checked
// by solving with the factors.
#pragma once
#include "harness/dense.hpp"

namespace bench::qr {

inline constexpr description what{.name = "qr",
                                  .about = "QR, n by n doubles",
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
  std::vector<double> tau = std::vector<double>(static_cast<std::size_t>(n));
};

/// Computes x = Q^T x; Q is the product of reflectors I - tau v v^T, v below a diagonal of ones.
inline void apply_reflectors(const operands& o, std::span<double> x) {
  for (std::size_t k = 0; k < x.size(); ++k) {
    const auto v = std::span(o.a).subspan(k * x.size(), x.size());
    double dot = x[k];
    for (std::size_t i = k + 1; i < x.size(); ++i) dot += v[i] * x[i];
    dot *= o.tau[k];
    x[k] -= dot;
    for (std::size_t i = k + 1; i < x.size(); ++i) x[i] -= dot * v[i];
  }
}

inline std::uint64_t check(operands& o) {
  auto x = dense::filled(dense::input::right_side, o.n);
  apply_reflectors(o, x);
  dense::solve_upper(o.a, x);
  dense::fill(dense::input::a, o.a);
  return dense::accepted_solution(o.a, x);
}

/// Runs once: `factor(operands)` leaves R and the reflectors in a and tau, as LAPACK does.
template <class Factor>
sample run(const settings& s, const Factor& factor) {
  return dense::measure(
      s, dense::cubic(4.0 / 3, s.n), [](std::int64_t n) { return operands{n}; }, factor, check);
}

}  // namespace bench::qr

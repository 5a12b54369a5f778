// SPDX-License-Identifier: Apache-2.0
// Powers of two that bring the elements of a matrix near 1, which changes no digit of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "tridiagonal.hpp"

namespace creek::linalg::detail {

/// Returns the larger one, or NaN if x is NaN.
template <class R>
R largest_of(R most, R x) noexcept {
  const R size = std::abs(x);
  return size > most || std::isnan(size) ? size : most;
}

/// Returns the largest magnitude of an element, NaN if one is NaN.
template <class R>
R max_magnitude(const R* x, index_t n, R most = 0) noexcept {
  for (index_t i = 0; i < n && !std::isnan(most); ++i) most = largest_of(most, x[i]);
  return most;
}

/// Multiplies by 2^exponent.
template <class R>
void scale_by_power(R* x, index_t n, int exponent) noexcept {
  if (exponent == 0) return;
  // In two steps, as neither factor may overflow.
  const R first = std::ldexp(R{1}, exponent / 2),
          second = std::ldexp(R{1}, exponent - exponent / 2);
  for (index_t i = 0; i < n; ++i) x[i] = x[i] * first * second;
}

template <class R>
int exponent_of(R most) noexcept {
  return most == 0 ? 0 : std::ilogb(most) + 1;
}

/// Calls solve() with t scaled to elements below 1, and scales the resulting d back. Returns its
/// info, or that of LAPACK for a matrix with NaN or infinities, whose d become NaN.
template <class R, class Solve>
index_t solve_scaled(const tridiagonal<R>& t, const Solve& solve) {
  const R most = max_magnitude(t.e, t.n - 1, max_magnitude(t.d, t.n));
  if (!std::isfinite(most)) {
    if (t.n == 1) return 0;
    std::fill_n(t.d, t.n, std::numeric_limits<R>::quiet_NaN());
    return std::max<index_t>(1, std::count_if(t.e, t.e + t.n - 1, [](R x) { return x != 0; }));
  }
  const int exponent = exponent_of(most);
  scale_by_power(t.d, t.n, -exponent);
  scale_by_power(t.e, t.n - 1, -exponent);
  const index_t info = solve(t);
  scale_by_power(t.d, t.n, exponent);
  return info;
}

}  // namespace creek::linalg::detail

// SPDX-License-Identifier: Apache-2.0
// The secular equation of D + rho z z^T, a diagonal matrix changed by one of rank one.
#pragma once

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// 1 / rho + sum of z_i^2 / (d_i - lambda) = 0, with d ascending and distinct, rho > 0 and z of
/// length 1 without zeros: one root lies right of each d_i.
template <class R>
struct secular_equation {
  index_t n;
  const R* d;
  const R* z;
  R rho;
};

/// Returns root j, to the last digits of its distance to the nearest d, and writes the n accurate
/// differences d_i - lambda to `delta`.
/// Source: [Li 1994], LAPACK's laed4.
template <class R>
R secular_root(const secular_equation<R>& equation, index_t j, R* delta) noexcept;

}  // namespace creek::linalg::detail

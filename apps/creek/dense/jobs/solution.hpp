// SPDX-License-Identifier: Apache-2.0
// Judges a solution of a linear system, also in the sense of least squares.
#pragma once

#include <algorithm>
#include <creek/linalg/blas3.hpp>
#include <creek/linalg/residual.hpp>

#include "dense/report.hpp"
#include "operand.hpp"

namespace creek::tool::dense {

/// Returns error / (size * length * eps); 0 if the error is 0.
template <scalar T>
double scaled_error(double error, double size, index_t length) noexcept {
  if (error == 0) return 0;
  return error / size / static_cast<double>(length) / linalg::unit_roundoff<T>;
}

/// Judges the solution of A x = b. With more equations than unknowns: the residual b - A x must be
/// orthogonal to A's columns (LAPACK's xQRT17). With fewer: A x = b, as in xQRT16, which does not
/// check that x is the shortest. Square: as in HPL.
template <scalar T>
judgement judge_solution(const_view<T> a, const_view<T> x, const_view<T> b) {
  using linalg::norm, linalg::norm_of;
  if (a.rows() == a.cols()) {
    return {"|b - A x| / (n eps (|A| |x| + |b|))", linalg::solve_residual<T>(a, x, b),
            linalg::hpl_threshold};
  }
  const index_t longer = std::max(a.rows(), a.cols());
  matrix<T> left(b);
  linalg::gemm<T>(linalg::op::none, linalg::op::none, T{-1}, a, x, T{1}, left.view());
  const double size = norm_of<T>(norm::one, a);
  if (a.rows() < a.cols()) {
    return {"|b - A x| / (n |A| |x| eps)",
            scaled_error<T>(norm_of<T>(norm::one, left), size * norm_of<T>(norm::one, x), longer),
            linalg::lapack_threshold};
  }
  matrix<T> upright(a.cols(), b.cols());
  linalg::gemm<T>(linalg::op::conjugate_transpose, linalg::op::none, T{1}, a, left.view(), T{0},
                  upright.view());
  return {"|A' (b - A x)| / (m |A| |b| eps)",
          scaled_error<T>(norm_of<T>(norm::one, upright), size * norm_of<T>(norm::one, b), longer),
          linalg::lapack_threshold};
}

}  // namespace creek::tool::dense

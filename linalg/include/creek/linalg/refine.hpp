// SPDX-License-Identifier: Apache-2.0
// Solutions made better by the residual that they leave: A d = B - A X, X + d.
//
// Threads and errors as in blas3.hpp.
#pragma once

#include <span>

#include <creek/linalg/blas3.hpp>
#include <creek/linalg/cholesky.hpp>
#include <creek/linalg/lu.hpp>
#include <creek/linalg/matrix.hpp>

namespace creek::linalg {

/// Improves the X of op(A) X = B by A, n x n, and the result of getrf; returns the number of
/// corrections, at most 5. Of each column j of X, unless the span is empty:
///
/// berr[j] = max over i of |B - op(A) X|_i / (|op(A)| |X| + |B|)_i, the least relative change of an
/// element of A or B of which X is the exact solution. Corrections go on as long as it is more than
/// the unit roundoff and at least halved.
///
/// ferr[j], an estimate from above of |X - exact|_max / |X|_max. It costs as much as gecon.
///
/// Everything, residuals too, is computed in the precision of T.
/// Sources: LAPACK's xGERFS [LAPACK 1999];
/// [Skeel 1980].
template <scalar T>
int gerfs(op how, input<T> A, input<T> LU, std::span<const index_t> pivots, input<T> B,
          matrix_view<T> X, std::span<double> ferr = {}, std::span<double> berr = {});

/// The same with a Hermitian positive definite A and the result of potrf. Of both only the triangle
/// `stored` is read.
template <scalar T>
int porfs(triangle stored, input<T> A, input<T> factor, input<T> B, matrix_view<T> X,
          std::span<double> ferr = {}, std::span<double> berr = {});

/// Report of a solver that factors in lower precision.
struct mixed_result {
  /// Why a solution by factors of the lower precision was given up; LAPACK's numbers.
  enum reason : int { overflow = -2, factorization = -3, convergence = -31 };

  index_t info = 0;    ///< of the factorization in full precision, 0 unless it was made
  int iterations = 0;  ///< corrections, at most 30; if less than 0, a `reason`
};

/// Solves A X = B, where A is n x n of double or std::complex<double>, by factors in float or
/// std::complex<float>: half the time and memory traffic of gesv. Corrects X until each column has
/// |B - A X|_max <= sqrt(n) eps |A|_inf |X|_max, about what gesv leaves. Otherwise solves as gesv
/// does: if a number is too large for float, if the factors in float are singular, or if 30
/// corrections do not suffice (the condition of A is beyond 1e7).
///
/// A is left as it is if `iterations` is at least 0, and becomes its factors else; `pivots`, n of
/// them, are those of the factors that were used. X overlaps neither and is meaningless if info is
/// not 0. Memory: half of A.
/// Sources: [Langou 2006];
/// LAPACK's DSGESV, ZCGESV.
template <scalar T>
mixed_result gesv_mixed(matrix_view<T> A, std::span<index_t> pivots, input<T> B, matrix_view<T> X,
                        const lu_options& options = {});

/// The same with a Hermitian positive definite A, of which the triangle `stored` is read and, if
/// `iterations` is less than 0, becomes the factor. LAPACK's DSPOSV, ZCPOSV.
template <scalar T>
mixed_result posv_mixed(triangle stored, matrix_view<T> A, input<T> B, matrix_view<T> X,
                        const cholesky_options& options = {});

}  // namespace creek::linalg

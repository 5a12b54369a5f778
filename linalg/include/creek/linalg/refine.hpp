// SPDX-License-Identifier: Apache-2.0
// Iterative refinement of solutions by their residual: A d = B - A X, X += d.
//
// Threads and errors as in blas3.hpp.
#pragma once

#include <span>

#include <creek/linalg/blas3.hpp>
#include <creek/linalg/cholesky.hpp>
#include <creek/linalg/lu.hpp>
#include <creek/linalg/matrix.hpp>

namespace creek::linalg {

/// Refines the X of op(A) X = B by A (n x n) and the result of getrf; returns the number of
/// corrections, at most 5. Per column j of X it computes, unless the span is empty:
///
/// berr[j] = max over i of |B - op(A) X|_i / (|op(A)| |X| + |B|)_i, the least relative change of an
/// element of A or B of which X is the exact solution. Corrections continue while it exceeds the
/// unit roundoff and each one at least halves it.
///
/// ferr[j], an upper estimate of |X - exact|_max / |X|_max. It costs as much as gecon.
///
/// All computations, also of residuals, use the precision of T. `work` is memory for
/// refine_work_size<T>(n) elements; a shorter span is not used, and memory allocated instead.
/// Several large columns are refined in parallel, with memory of their own.
/// Sources: LAPACK's xGERFS [LAPACK 1999];
/// [Skeel 1980].
template <scalar T>
int gerfs(op how, input<T> A, input<T> LU, std::span<const index_t> pivots, input<T> B,
          matrix_view<T> X, std::span<double> ferr = {}, std::span<double> berr = {},
          std::span<T> work = {});

template <scalar T>
constexpr index_t refine_work_size(index_t n) noexcept {
  return is_complex<T> ? 2 * n : 3 * n;
}

/// Like gerfs, with a Hermitian positive definite A and the result of potrf. Only the triangle
/// `stored` of A and of the factor is read.
template <scalar T>
int porfs(triangle stored, input<T> A, input<T> factor, input<T> B, matrix_view<T> X,
          std::span<double> ferr = {}, std::span<double> berr = {}, std::span<T> work = {});

/// Type of the factors of the solvers below: float or std::complex<float>.
template <scalar T>
using lower_precision = std::conditional_t<is_complex<T>, std::complex<float>, float>;

/// Memory of these solvers for an n x n matrix and m right-hand sides. A span that is too short is
/// not used, and memory allocated instead.
template <scalar T>
struct mixed_work {
  std::span<T> full;                  ///< n * m
  std::span<lower_precision<T>> low;  ///< n * (n + m)
};

/// Result of a solver that factors in lower precision.
struct mixed_result {
  /// Reason for giving up a solution with factors of lower precision; LAPACK's numbers.
  enum reason : int { overflow = -2, factorization = -3, convergence = -31 };

  index_t info = 0;    ///< info of the factorization in full precision, 0 if it was not made
  int iterations = 0;  ///< corrections, at most 30; if less than 0, a `reason`
};

/// Solves A X = B, where A is n x n of double or std::complex<double>, with factors in float or
/// std::complex<float>: half the time and memory traffic of gesv. Corrects X until each column has
/// |B - A X|_max <= sqrt(n) eps |A|_inf |X|_max, about what gesv leaves. Falls back to gesv if a
/// number is too large for float, if the factors in float are singular, or if 30 corrections do not
/// suffice (the condition number of A is beyond 1e7).
///
/// A stays unchanged if `iterations` >= 0, and becomes its factors otherwise; `pivots` (n of them)
/// are those of the factors that were used. X must overlap neither, and is meaningless if info is
/// not 0.
/// Sources: [Langou 2006];
/// LAPACK's DSGESV, ZCGESV.
template <scalar T>
mixed_result gesv_mixed(matrix_view<T> A, std::span<index_t> pivots, input<T> B, matrix_view<T> X,
                        const lu_options& options = {}, const mixed_work<T>& work = {});

/// Like gesv_mixed, with a Hermitian positive definite A, of which the triangle `stored` is read
/// and, if `iterations` < 0, becomes the factor. LAPACK's DSPOSV, ZCPOSV.
template <scalar T>
mixed_result posv_mixed(triangle stored, matrix_view<T> A, input<T> B, matrix_view<T> X,
                        const cholesky_options& options = {}, const mixed_work<T>& work = {});

}  // namespace creek::linalg

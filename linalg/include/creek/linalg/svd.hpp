// SPDX-License-Identifier: Apache-2.0
// Singular value decomposition, and least squares by it for matrices of any rank.
//
// Threads and errors as in blas3.hpp.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/linalg/blas3.hpp>
#include <creek/linalg/matrix.hpp>

namespace creek::linalg {

/// Returned for a matrix with a NaN, of which nothing was computed.
inline constexpr index_t matrix_has_nan = -1;

/// A = Q B P^H, where B is bidiagonal: upper for m >= n, lower for m < n; 4 n^2 (m - n/3) flops for
/// m >= n. d has min(m, n) elements, e one less. A becomes B and the vectors of the reflectors
/// whose products are Q (below the diagonal of B) and P (right of it, conjugated), as in LAPACK;
/// tau_q and tau_p have min(m, n) elements.
template <scalar T>
void gebrd(matrix_view<T> A, std::span<real<T>> d, std::span<real<T>> e, std::span<T> tau_q,
           std::span<T> tau_p);

/// A = U diag(s) V^H by divide and conquer. A is m x n and overwritten; s has min(m, n) elements,
/// which decrease. U is m x 0, m x min(m, n) or m x m: no left singular vectors, the first ones, or
/// all; VT is 0 x n, min(m, n) x n or n x n and becomes V^H. Returns 0; matrix_has_nan; or the
/// number of superdiagonals of the bidiagonal matrix that did not converge, after an overflow or
/// for an infinite element of A. Source: [Gu 1995b].
template <scalar T>
[[nodiscard]] index_t gesdd(matrix_view<T> A, std::span<real<T>> s, matrix_view<T> U,
                            matrix_view<T> VT);

struct least_squares_rank {
  index_t info;  ///< as that of gesdd
  index_t rank;  ///< number of singular values that were not taken for zero
};

/// Finds the X of least norm among those that minimize the norm of A X - B. Singular values up to
/// `rcond` times the largest one are taken for zero; rcond < 0 stands for half the unit roundoff. A
/// is overwritten, B has max(m, n) rows as in gels(), s receives the singular values of A. As in
/// LAPACK, a sum of squares of the rows below X is that of the residual if m > n and the rank is n.
template <scalar T>
[[nodiscard]] least_squares_rank gelsd(matrix_view<T> A, matrix_view<T> B, std::span<real<T>> s,
                                       real<T> rcond);

}  // namespace creek::linalg

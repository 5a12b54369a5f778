// SPDX-License-Identifier: Apache-2.0
// How near to singular a matrix is: estimates of its condition number, from its factors.
//
// Threads and errors as in blas3.hpp. All return an estimate of 1 / (|A| |A^-1|), LAPACK's rcond:
// about 1 for a good matrix; the unit roundoff, or less, where solutions mean nothing. |A^-1| is
// estimated from below, seldom by more than a factor of 3, so the condition is no better than what
// is returned says. 0 for a matrix that is singular, infinite, or so near to it that its inverse
// overflows; NaN where there is a NaN; 1 of an empty matrix. About 40 n^2 flops, by the block
// algorithm of [Higham 2000]. The norm is one or inf;
// another is misuse.
#pragma once

#include <creek/linalg/blas3.hpp>
#include <creek/linalg/matrix.hpp>
#include <creek/linalg/residual.hpp>

namespace creek::linalg {

/// Of A, by the result of getrf; `anorm` is the same norm of A before.
template <scalar T>
double gecon(norm which, const_view<T> LU, double anorm);

/// Of a Hermitian positive definite A, by the result of potrf; `anorm` is its norm before, see
/// norm_of_hermitian. Both norms are the same.
template <scalar T>
double pocon(triangle stored, const_view<T> factor, double anorm);

/// Of a triangular A.
template <scalar T>
double trcon(norm which, triangle stored, diagonal ones, const_view<T> A);

}  // namespace creek::linalg

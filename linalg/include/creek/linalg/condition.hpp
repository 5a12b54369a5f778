// SPDX-License-Identifier: Apache-2.0
// Estimates of a matrix's condition number, from its factors: how close to singular it is.
//
// Threads and errors as in blas3.hpp. All functions return an estimate of 1 / (|A| |A^-1|),
// LAPACK's rcond: about 1 for a well-conditioned matrix; the unit roundoff or less if solutions
// mean nothing. |A^-1| is estimated from below, seldom by more than a factor of 3, so the true
// condition is never better than the estimate. The result is 0 if A is singular, infinite, or so
// close to singular that its inverse overflows; NaN if A has a NaN; 1 if A is empty. Cost: four to
// ten systems of one vector, by the algorithm of [Higham 1988], in the calling thread. The norm
// must be one or inf; any other is misuse.
//
// `work` is memory for condition_work_size<T>(n) elements; a shorter span is not used, and memory
// allocated instead.
#pragma once

#include <span>

#include <creek/linalg/blas3.hpp>
#include <creek/linalg/matrix.hpp>
#include <creek/linalg/residual.hpp>

namespace creek::linalg {

template <scalar T>
constexpr index_t condition_work_size(index_t n) noexcept {
  return is_complex<T> ? 2 * n : 3 * n;
}

/// Estimates rcond of A from the result of getrf; `anorm` is the same norm of A before getrf.
template <scalar T>
double gecon(norm which, const_view<T> LU, double anorm, std::span<T> work = {});

/// Estimates rcond of a Hermitian positive definite A from the result of potrf; `anorm` is A's norm
/// before potrf, see norm_of_hermitian. Its one-norm and inf-norm are equal.
template <scalar T>
double pocon(triangle stored, const_view<T> factor, double anorm, std::span<T> work = {});

/// Estimates rcond of a triangular A.
template <scalar T>
double trcon(norm which, triangle stored, diagonal ones, const_view<T> A, std::span<T> work = {});

}  // namespace creek::linalg

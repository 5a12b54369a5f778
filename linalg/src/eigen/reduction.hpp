// SPDX-License-Identifier: Apache-2.0
// The reduction of a Hermitian matrix to tridiagonal form, and its reflectors.
#pragma once

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// A = Q T Q^H from the lower triangle of A, as LAPACK's hetrd: T has the diagonal d (n) and the
/// off-diagonal e (n - 1); A becomes T and, below, the reflectors of Q, with factors tau (n - 1).
/// The upper triangle is neither read nor written. Throws std::bad_alloc.
template <scalar T>
void reduce_lower(matrix_view<T> A, real<T>* d, real<T>* e, T* tau);

/// Replaces the reflectors of a small reduced A by Q, in place. One thread.
template <scalar T>
void form_small_q(matrix_view<T> A, const T* tau) noexcept;

/// C = Q C for C of any number of columns, on the workers.
template <scalar T>
void apply_q(const_view<T> A, const T* tau, matrix_view<T> C);

}  // namespace creek::linalg::detail

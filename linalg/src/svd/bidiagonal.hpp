// SPDX-License-Identifier: Apache-2.0
// Reduction to bidiagonal form, and products with its two unitary factors.
#pragma once

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// A = Q B P^H for m >= n, like LAPACK's gebrd: B is upper bidiagonal with the diagonal d[0, n) and
/// the superdiagonal e[0, n - 1), both real, and stored in A as well. The vectors of Q's reflectors
/// are below the diagonal of A, the conjugates of P's are right of the superdiagonal. Products of
/// elements must neither overflow nor underflow.
template <scalar T>
void reduce_to_bidiagonal(matrix_view<T> A, real<T>* d, real<T>* e, T* tau_q, T* tau_p);

}  // namespace creek::linalg::detail

// SPDX-License-Identifier: Apache-2.0
// Triangular systems of one vector, in place, without packing: for estimates and refinement, which
// solve a few systems one after the other. In the calling thread.
#pragma once

#include <creek/linalg/matrix.hpp>

#include "kernels/vector_kernels.hpp"

namespace creek::linalg::detail {

template <scalar T>
void conjugate_vector(index_t n, T* x) noexcept {
  for (index_t i = 0; i < n; ++i) x[i] = conjugated(x[i]);
}

/// Solves op(A) y = x for a triangular A and stores y in x. `reciprocals` is the result of
/// invert_diagonal() or nullptr, which takes longer. Overflow gives infinities or NaN.
template <scalar T>
void solve_vector(triangle stored, op how, diagonal ones, const_view<T> A, const T* reciprocals,
                  T* x) noexcept;

/// Stores the reciprocals of A's diagonal; those of zeros are infinite or NaN.
template <scalar T>
void invert_diagonal(const_view<T> A, T* reciprocals) noexcept;

/// Does the same as solve_vector without overflow: solves op(A) y = s x for a scale s in [0, 1] and
/// returns s. If A is singular, s is 0 and y a solution other than 0. A must be finite.
/// Takes several times as long. LAPACK's xLATRS.
template <scalar T>
double solve_vector_scaled(triangle stored, op how, diagonal ones, const_view<T> A, T* x) noexcept;

}  // namespace creek::linalg::detail

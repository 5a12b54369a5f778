// SPDX-License-Identifier: Apache-2.0
// Singular values of small bidiagonal matrices by the implicit zero-shift QR iteration.
#pragma once

#include <creek/linalg/matrix.hpp>

#include "kernels/rotated_columns.hpp"

namespace creek::linalg::detail {

/// B = W diag(s) Z^T for a bidiagonal B with the diagonal d[0, n) and the superdiagonal e[0, n -
/// 1). d becomes s, not sorted, U becomes U W and V becomes V Z. Returns 0, or the number of
/// superdiagonal elements that did not converge.
/// Source: [Demmel 1990].
template <class R>
index_t bidiagonal_qr(index_t n, R* d, R* e, const rotated_columns<R>& U,
                      const rotated_columns<R>& V);

/// Makes an upper bidiagonal matrix of n x (n + 1), with n superdiagonal elements, square: V
/// becomes V Z and U becomes U W, and the last column of Z spans the null space.
template <class R>
void make_square(index_t n, R* d, R* e, const rotated_columns<R>& U, const rotated_columns<R>& V);

/// Sorts the values in decreasing order, with their vectors.
template <class R>
void sort_values(index_t n, R* d, const rotated_columns<R>& U, const rotated_columns<R>& V);

}  // namespace creek::linalg::detail

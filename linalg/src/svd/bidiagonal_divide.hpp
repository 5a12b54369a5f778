// SPDX-License-Identifier: Apache-2.0
// Singular value decomposition of bidiagonal matrices by divide and conquer.
#pragma once

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// B = U diag(s) V^T for the upper bidiagonal matrix of order n with the diagonal d and the
/// superdiagonal e. d becomes s in decreasing order; e is overwritten. U and V are of order n.
/// Returns 0, or the number of superdiagonal elements that did not converge.
/// Source: [Gu 1995b].
template <class R>
index_t bidiagonal_svd(index_t n, R* d, R* e, matrix_view<R> U, matrix_view<R> V);

/// Does the same without vectors.
template <class R>
index_t bidiagonal_values(index_t n, R* d, R* e);

}  // namespace creek::linalg::detail

// SPDX-License-Identifier: Apache-2.0
// QR of matrices that are much higher than wide, by a tree of pieces of rows.
#pragma once

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// Returns whether factor_tall is faster than a factorization by columns.
template <scalar T>
bool is_tall(index_t rows, index_t cols) noexcept;

/// Like factor_reflectors, for high matrices, on all workers: R, V, tau and the triangle T, with
/// the signs that elimination by columns gives. The same result for any number of workers.
/// Reads A twice and writes it twice. Pieces of rows are factored in a cache, then their triangles
/// likewise; from Q, formed by the way back, the reflectors of the whole are reconstructed.
/// Source: [Ballard 2014].
template <scalar T>
void factor_tall(matrix_view<T> A, T* tau, matrix_view<T> triangle);

}  // namespace creek::linalg::detail

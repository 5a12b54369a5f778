// SPDX-License-Identifier: Apache-2.0
// Conjugate transposes, in squares that fit the cache, on all workers.
#pragma once

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// B = A^H.
template <scalar T>
void conjugate_transpose_to(const_view<T> A, matrix_view<T> B);

/// Returns A^H.
template <scalar T>
matrix<T> conjugate_transposed_copy(const_view<T> A);

}  // namespace creek::linalg::detail

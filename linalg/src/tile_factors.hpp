// SPDX-License-Identifier: Apache-2.0
// Factorizations and inverses of one tile, in the calling thread. Square matrices; info as that of
// LAPACK's routine of the name. Throw std::bad_alloc, which leaves the tile half done.
#pragma once

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// A = L L^H or U^H U.
template <scalar T>
index_t potrf_here(triangle stored, matrix_view<T> A);

/// A = L U without exchanges. Stops at a zero pivot, whose place it returns. Any shape.
template <scalar T>
index_t getrf_nopiv_here(matrix_view<T> A);

/// The triangle becomes its inverse, unless there is a zero on its diagonal.
template <scalar T>
index_t trtri_here(triangle stored, diagonal ones, matrix_view<T> A);

/// L becomes L^H L, U becomes U U^H, in their triangle.
template <scalar T>
void lauum_here(triangle stored, matrix_view<T> A);

}  // namespace creek::linalg::detail

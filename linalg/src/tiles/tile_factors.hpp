// SPDX-License-Identifier: Apache-2.0
// Factorizations and inverses of one square tile, in the calling thread; info is that of the LAPACK
// routine of that name. They throw std::bad_alloc, which leaves the tile half done.
#pragma once

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// A = L L^H or U^H U. Returns info.
template <scalar T>
index_t potrf_here(triangle stored, matrix_view<T> A);

/// A = L U without exchanges, any shape. Stops at a zero pivot and returns its 1-based index.
template <scalar T>
index_t getrf_nopiv_here(matrix_view<T> A);

/// Replaces the triangle by its inverse, unless there is a zero on its diagonal. Returns info.
template <scalar T>
index_t trtri_here(triangle stored, diagonal ones, matrix_view<T> A);

/// Replaces L by L^H L, or U by U U^H, in their triangle.
template <scalar T>
void lauum_here(triangle stored, matrix_view<T> A);

}  // namespace creek::linalg::detail

// SPDX-License-Identifier: Apache-2.0
// Factorizations and inverses of one square tile or small matrix, in the calling thread; info is
// that of the LAPACK routine of that name. They throw std::bad_alloc, which leaves the tile half
// done; at most max_small_order, real matrices need no memory.
#pragma once

#include <span>

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// A = L L^H or U^H U. Returns info.
template <scalar T>
index_t potrf_here(triangle stored, matrix_view<T> A);

/// P A = L U with partial pivoting, any shape; min(m, n) pivots. Returns info.
template <scalar T>
index_t getrf_here(matrix_view<T> A, index_t* pivots);

/// Solves op(A) X = B by these factors.
template <scalar T>
void getrs_here(op how, const_view<T> LU, std::span<const index_t> pivots, matrix_view<T> B);

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

// SPDX-License-Identifier: Apache-2.0
// Inverses, in place, of triangular matrices and of factored ones. Solving with the factors is
// faster and more accurate than with an inverse.
//
// Threads and errors as in blas3.hpp. `info` is LAPACK's: 0, or the 1-based index of a zero on the
// diagonal: the matrix is singular and left unchanged.
#pragma once

#include <span>

#include <creek/linalg/blas3.hpp>
#include <creek/linalg/matrix.hpp>

namespace creek::linalg {

/// Inverts the triangle `stored` in place; 1/3 n^3 flops. Neither reads nor writes the other one.
template <scalar T>
[[nodiscard]] index_t trtri(triangle stored, diagonal ones, matrix_view<T> A);

/// Replaces the result of getrf by the inverse of A; 4/3 n^3 flops.
template <scalar T>
[[nodiscard]] index_t getri(matrix_view<T> A, std::span<const index_t> pivots);

/// Replaces the result of potrf by that triangle of the inverse of A; 2/3 n^3 flops.
template <scalar T>
[[nodiscard]] index_t potri(triangle stored, matrix_view<T> A);

}  // namespace creek::linalg

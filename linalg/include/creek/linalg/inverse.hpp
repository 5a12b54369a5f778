// SPDX-License-Identifier: Apache-2.0
// Inverses, in place, of triangular matrices and of factored ones. To solve systems, factors are
// faster and more accurate.
//
// Threads and errors as in blas3.hpp. `info` is LAPACK's: 0, or the place (from 1) of a zero on the
// diagonal, in which case the matrix is singular and was left as it was.
#pragma once

#include <span>

#include <creek/linalg/blas3.hpp>
#include <creek/linalg/matrix.hpp>

namespace creek::linalg {

/// A triangle becomes its inverse; 1/3 n^3 flops. The other triangle is neither read nor written.
template <scalar T>
index_t trtri(triangle stored, diagonal ones, matrix_view<T> A);

/// The result of getrf becomes the inverse; 4/3 n^3 flops.
template <scalar T>
index_t getri(matrix_view<T> A, std::span<const index_t> pivots);

/// The result of potrf becomes that triangle of the inverse; 2/3 n^3 flops.
template <scalar T>
index_t potri(triangle stored, matrix_view<T> A);

}  // namespace creek::linalg

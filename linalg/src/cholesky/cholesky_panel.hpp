// SPDX-License-Identifier: Apache-2.0
// Cholesky of a block of columns, in one thread.
#pragma once

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// Factors a tall panel, whose top is the diagonal block, by halves: the diagonal block is factored
/// and the rows below are solved for at once. Reads nothing above the diagonal. Returns info.
/// Throws std::bad_alloc, which leaves the panel half factored.
template <scalar T>
index_t cholesky_panel(matrix_view<T> A);

/// C -= L M^H, only on and below the diagonal of C.
template <scalar T>
void subtract_product(const_view<T> L, const_view<T> M, matrix_view<T> C);

}  // namespace creek::linalg::detail

// SPDX-License-Identifier: Apache-2.0
// Cholesky of a block of columns, in one thread.
#pragma once

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// A tall panel, whose upper part is the diagonal block, by halves: that is factored and the rows
/// below solved for at once. Above the diagonal nothing is read. Returns info. Throws
/// std::bad_alloc, which leaves the panel half factored.
template <scalar T>
index_t cholesky_panel(matrix_view<T> A);

/// C -= L M^H, of which only the part on and below the diagonal of C is wanted.
template <scalar T>
void subtract_product(const_view<T> L, const_view<T> M, matrix_view<T> C);

}  // namespace creek::linalg::detail

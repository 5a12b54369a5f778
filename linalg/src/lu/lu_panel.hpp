// SPDX-License-Identifier: Apache-2.0
// LU with partial pivoting of a few columns, in one thread.
#pragma once

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// Factors a panel like getrf. Throws std::bad_alloc, which leaves the panel half factored.
template <scalar T>
index_t factor_panel(matrix_view<T> A, index_t* pivots);

}  // namespace creek::linalg::detail

// SPDX-License-Identifier: Apache-2.0
// LU with partial pivoting of a few columns, in one thread.
#pragma once

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// As getrf, for a panel. Throws std::bad_alloc, which leaves the panel half factored.
template <scalar T>
index_t factor_panel(matrix_view<T> A, index_t* pivots);

/// Exchanges row i with row pivots[i] for i in [0, count).
template <scalar T>
void exchange_rows(matrix_view<T> A, const index_t* pivots, index_t count) noexcept;

}  // namespace creek::linalg::detail

// SPDX-License-Identifier: Apache-2.0
// LU with partial pivoting of a panel, in one thread or, if it is tall, on all workers.
#pragma once

#include <algorithm>

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// P A = L U for an m x n panel, like getrf: returns info; pivots[0, min(m, n)) count A's rows.
/// Throws std::bad_alloc, which leaves the panel half factored.
template <scalar T>
index_t factor_panel(matrix_view<T> A, index_t* pivots);

/// The same on all workers, each of which works on pieces of rows. The same bits for any number of
/// workers.
template <scalar T>
index_t factor_tall_panel(matrix_view<T> A, index_t* pivots);

/// Returns whether that is faster than a factorization by blocks of columns.
template <scalar T>
bool is_tall_panel(index_t rows, index_t cols) noexcept;

/// factor_panel for a panel of a larger matrix, whose row `first` is A's first: pivots count rows
/// of the matrix.
template <scalar T>
index_t factor_panel_at(index_t first, matrix_view<T> A, index_t* pivots) {
  const index_t info = factor_panel(A, pivots);
  for (index_t i = 0; i < std::min(A.rows(), A.cols()); ++i) pivots[i] += first;
  return info;
}

}  // namespace creek::linalg::detail

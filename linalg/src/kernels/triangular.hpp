// SPDX-License-Identifier: Apache-2.0
// Triangular systems with packed right-hand sides: the solution can be used as an operand.
#pragma once

#include <creek/linalg/matrix.hpp>

#include "packing.hpp"

namespace creek::linalg::detail {

/// Returns rows and columns in reverse order: a lower triangle becomes an upper one, vice versa.
template <scalar T>
strided<T> reversed(strided<T> a, index_t rows, index_t cols) noexcept {
  a.data += (rows - 1) * a.row_step + (cols - 1) * a.col_step;
  a.row_step = -a.row_step;
  a.col_step = -a.col_step;
  return a;
}

/// Returns the depth of a packed triangle of this order, or of its packed right-hand sides.
template <scalar T>
index_t solve_depth(index_t order) noexcept {
  return round_up(order, solve_rows / reals<T>);
}
/// Returns the number of elements of real<T> that a packed triangle takes.
template <scalar T>
index_t packed_triangle_size(index_t order) noexcept {
  const index_t strip = solve_rows / reals<T>;
  const index_t strips = solve_depth<T>(order) / strip;
  return reals<T> * strip * strip * strips * (strips + 1) / 2;
}

/// Packs the lower triangle of `l`, with reciprocals in place of its diagonal.
template <scalar T>
void pack_triangle(const strided<T>& l, diagonal ones, index_t order, real<T>* to) noexcept;

/// Solves L x = b for `cols` packed right-hand sides in strips that are `solve_depth`
/// deep.
template <scalar T>
void solve_packed(const real<T>* triangle, index_t order, real<T>* b, index_t cols) noexcept;

}  // namespace creek::linalg::detail

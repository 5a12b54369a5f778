// SPDX-License-Identifier: Apache-2.0
// Triangular systems whose right-hand sides are packed: the solution can go on as an operand.
#pragma once

#include <creek/linalg/matrix.hpp>

#include "packing.hpp"

namespace creek::linalg::detail {

/// Rows and columns in the opposite order: a lower triangle becomes an upper one and the other way.
template <scalar T>
operand<T> reversed(operand<T> a, index rows, index cols) noexcept {
  a.data += (rows - 1) * a.row_step + (cols - 1) * a.col_step;
  a.row_step = -a.row_step;
  a.col_step = -a.col_step;
  return a;
}

/// The depth of a packed triangle of this order, or of the right-hand sides that it solves.
template <scalar T>
index solve_depth(index order) noexcept {
  return round_up(order, solve_rows / reals<T>);
}
/// Elements of real<T> that a packed triangle takes.
template <scalar T>
index packed_triangle_size(index order) noexcept {
  const index strip = solve_rows / reals<T>;
  const index strips = solve_depth<T>(order) / strip;
  return reals<T> * strip * strip * strips * (strips + 1) / 2;
}

/// Packs the lower triangle of `l`, with the reciprocals of its diagonal.
template <scalar T>
void pack_triangle(const operand<T>& l, diagonal ones, index order, real<T>* to) noexcept;

/// Solves L x = b for strips of packed right-hand sides, `solve_depth` deep, of which there are
/// `cols`.
template <scalar T>
void solve_packed(const real<T>* triangle, index order, real<T>* b, index cols) noexcept;

}  // namespace creek::linalg::detail

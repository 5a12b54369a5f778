// SPDX-License-Identifier: Apache-2.0
// QR of a tile by itself, and its Q: the reflectors in groups, as those of a pair of tiles.
#pragma once

#include <deque>

#include <creek/linalg/matrix.hpp>

#include "reflectors.hpp"

namespace creek::linalg::detail {

/// Factors A of m x n (geqrt): R on and above the diagonal, V below it. The k = min(m, n)
/// reflectors are cut into groups of triangles.rows(), whose triangular factors come to lie side by
/// side in `triangles` (inner x k). One thread.
template <scalar T>
void factor_tile(matrix_view<T> A, matrix_view<T> triangles);

/// The reflectors of factor_tile packed, to be applied.
template <scalar T>
class packed_tile {
 public:
  /// With `turned` Q^H is applied, else Q.
  packed_tile(const_view<T> V, const_view<T> triangles, bool turned);

  /// C = Q C or Q^H C for C of m rows (unmqr). One thread; several may do so at once.
  void apply(matrix_view<T> C) const;

 private:
  bool turned_;
  index_t inner_;
  std::deque<packed_reflectors<T>> groups_;
};

}  // namespace creek::linalg::detail

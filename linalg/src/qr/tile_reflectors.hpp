// SPDX-License-Identifier: Apache-2.0
// QR of a single tile, and its Q: reflectors in groups, like those of a pair of tiles.
#pragma once

#include <deque>

#include <creek/linalg/matrix.hpp>

#include "reflectors.hpp"

namespace creek::linalg::detail {

/// A = Q R for A of m x n (geqrt): R on and above the diagonal, V below it. The k = min(m, n)
/// reflectors form groups of triangles.rows(), whose triangular factors T are stored side by side
/// in `triangles` (inner x k). One thread.
template <scalar T>
void factor_tile(matrix_view<T> A, matrix_view<T> triangles);

/// Packed reflectors of factor_tile, ready to be applied.
template <scalar T>
class packed_tile {
 public:
  /// Applies Q^H if `turned`, else Q.
  packed_tile(const_view<T> V, const_view<T> triangles, bool turned);

  /// C = Q C or Q^H C, C has m rows (unmqr). One thread; several threads may apply it at once.
  void apply(matrix_view<T> C) const;

 private:
  bool turned_;
  index_t inner_;
  std::deque<packed_reflectors<T>> groups_;
};

}  // namespace creek::linalg::detail

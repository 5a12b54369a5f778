// SPDX-License-Identifier: Apache-2.0
// LU of a triangle on top of a block, with pivoting between the two, and its update of columns
// further right. The bulk of LU with incremental pivoting. All in one thread.
// Sources:
// [Quintana-Orti 2008] for LU with incremental pivoting;
// [Buttari 2009] for its tasks on tiles.
#pragma once

#include <algorithm>
#include <vector>

#include <creek/linalg/matrix.hpp>

#include "kernels/pack_memory.hpp"
#include "kernels/packing.hpp"
#include "kernels/row_exchanges.hpp"

namespace creek::linalg::detail {

/// Packed factors and pivots of a square block, to be applied to columns further right.
template <scalar T>
class packed_block {
 public:
  packed_block(const_view<T> L, const index_t* pivots);

  /// C = L^-1 P C (gessm). Runs in one thread; several threads may apply it at once.
  void apply(matrix_view<T> C) const;

 private:
  index_t order_;
  row_exchanges rows_;
  pack_array<real<T>> triangle_;
};

/// Eliminates A (m x n) by the upper triangle U (n x n; nothing below its diagonal is touched) with
/// partial pivoting between a row of U and all of A (tstrf). Columns are processed in groups of
/// L.rows(), the inner block. Per group, the multipliers of rows that pivoting moved into U are
/// stored in L (inner x n), below the diagonal of the group's square; those of A in A. pivots[0, n)
/// count the rows of the group's part of U, then those of A, as in factor_panel.
template <scalar T>
void eliminate_pair(matrix_view<T> U, matrix_view<T> A, matrix_view<T> L, index_t* pivots);

/// Packed result of eliminate_pair, to be applied to other columns (ssssm).
template <scalar T>
class packed_elimination {
 public:
  packed_elimination(const_view<T> L, const_view<T> A, const index_t* pivots);

  /// C1 has n rows, C2 m. (2 m + inner) n cols flops. One thread; several may apply it at once.
  void apply(matrix_view<T> C1, matrix_view<T> C2) const;

 private:
  index_t groups() const noexcept { return (order_ + inner_ - 1) / inner_; }
  index_t width_of(index_t g) const noexcept { return std::min(inner_, order_ - g * inner_); }
  void exchange(index_t g, matrix_view<T> C1, matrix_view<T> C2, T* scratch) const;
  void apply_group(index_t g, matrix_view<T> C1, matrix_view<T> C2, real<T>* strip) const;

  index_t rows_;
  index_t order_;
  index_t inner_;
  index_t triangle_size_, left_size_;  // per group, in real<T>
  std::vector<row_exchanges> exchanges_;
  pack_array<real<T>> triangles_;  // L of each group, packed
  pack_array<real<T>> left_;       // A of each group, packed and negated
};

/// C = op(L^-1 P) C for `how` other than none: like packed_block, for op(A) X = B.
template <scalar T>
void eliminate_block_turned(op how, const_view<T> L, const index_t* pivots, matrix_view<T> C);
/// Like packed_elimination, for op(A) X = B.
template <scalar T>
void eliminate_pair_turned(op how, const_view<T> L, const_view<T> A, const index_t* pivots,
                           matrix_view<T> C1, matrix_view<T> C2);

}  // namespace creek::linalg::detail

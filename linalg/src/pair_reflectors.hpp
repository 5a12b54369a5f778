// SPDX-License-Identifier: Apache-2.0
// QR of a triangle on top of a block, and its Q: reflectors whose upper part is the identity.
// These are most of the work of tile QR.
// All functions run in one thread.
// Source: [Buttari 2009].
#pragma once

#include <creek/linalg/matrix.hpp>

#include "pack_memory.hpp"
#include "packing.hpp"

namespace creek::linalg::detail {

/// Shape of the lower block of a pair, below the triangle: a full block, or one of which only the
/// upper trapezoid counts (elements below its diagonal are neither read nor written).
enum class lower_block { square, triangle };

/// [R; A] = Q [R'; 0] for an upper triangle R (n x n; nothing below its diagonal is touched) and A
/// (m x n): tsqrt, or ttqrt where A is a triangle; LAPACK's tpqrt. R becomes R', A the lower part V
/// of the reflectors. They are cut into groups of triangles.rows() (the inner block), whose
/// triangular factors come to lie side by side in `triangles` (inner x n).
template <scalar T>
void factor_pair(lower_block kind, matrix_view<T> R, matrix_view<T> A, matrix_view<T> triangles);

/// The reflectors of factor_pair packed, to be applied.
template <scalar T>
class packed_pair {
 public:
  /// Applies Q^H if `turned`, else Q.
  packed_pair(lower_block kind, const_view<T> V, const_view<T> triangles, bool turned);

  /// [C1; C2] = Q [C1; C2] or Q^H of it: C1 has n rows, C2 m (a triangle changes its first n only).
  /// One thread; several may do so at once. 4 m n cols flops for a square.
  void apply(matrix_view<T> C1, matrix_view<T> C2) const;

 private:
  struct group {
    index_t first, width, rows;  // columns of V; rows of V that are not zero
  };
  struct workspace;

  index_t groups() const noexcept { return (order_ + inner_ - 1) / inner_; }
  group group_at(index_t g) const noexcept;
  void pack(index_t g, const_view<T> V, const_view<T> triangle);
  void apply_group(index_t g, matrix_view<T> C1, matrix_view<T> C2, const workspace& work) const;

  lower_block kind_;
  bool turned_;
  index_t rows_;
  index_t order_;
  index_t inner_;
  index_t v_size_, v_turned_size_, t_size_;  // of a group, in real<T>
  pack_array<real<T>> v_;                    // V of each group as a left operand
  pack_array<real<T>> v_turned_;             // V^H as one, in steps over its depth
  pack_array<real<T>> t_;                    // T or T^H as one
};

}  // namespace creek::linalg::detail

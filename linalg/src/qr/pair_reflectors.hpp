// SPDX-License-Identifier: Apache-2.0
// QR of a triangle on top of a block, and its Q: reflectors whose upper part is the identity.
// These are most of the work of tile QR.
// All functions run in one thread.
// Source: [Buttari 2009].
#pragma once

#include <creek/linalg/matrix.hpp>

#include "kernels/pack_memory.hpp"
#include "kernels/packing.hpp"

namespace creek::linalg::detail {

/// Shape of the lower block of a pair: a full block, or one of which only the upper trapezoid is
/// used (elements below its diagonal are neither read nor written).
enum class lower_block { square, triangle };

/// [R; A] = Q [R'; 0] for an upper triangle R (n x n; nothing below its diagonal is touched) and A
/// (m x n): tsqrt, or ttqrt if A is a triangle; LAPACK's tpqrt. R becomes R', A the lower part V of
/// the reflectors. They form groups of triangles.rows() (the inner block), whose triangular factors
/// T are stored side by side in `triangles` (inner x n).
template <scalar T>
void factor_pair(lower_block kind, matrix_view<T> R, matrix_view<T> A, matrix_view<T> triangles);

/// Packed reflectors of factor_pair, ready to be applied.
template <scalar T>
class packed_pair {
 public:
  /// Applies Q^H if `turned`, else Q.
  packed_pair(lower_block kind, const_view<T> V, const_view<T> triangles, bool turned);

  /// [C1; C2] = Q [C1; C2] or Q^H [C1; C2]: C1 has n rows, C2 m (a triangle changes only its first
  /// n). 4 m n cols flops for a square. One thread; several may apply it at once.
  void apply(matrix_view<T> C1, matrix_view<T> C2) const;

 private:
  struct group {
    index_t first, width, rows;  // columns of V; nonzero rows of V
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
  index_t v_size_, v_turned_size_, t_size_;  // per group, in real<T>
  pack_array<real<T>> v_;                    // V of each group as a left operand
  pack_array<real<T>> v_turned_;             // V^H as a left operand, in steps over its depth
  pack_array<real<T>> t_;                    // T or T^H as a left operand
};

}  // namespace creek::linalg::detail

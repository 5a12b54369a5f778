// SPDX-License-Identifier: Apache-2.0
// Blocks of Householder reflectors, I - V T V^H, as QR factorizations are made of.
#pragma once

#include <vector>

#include <creek/linalg/matrix.hpp>

#include "pack_memory.hpp"
#include "packing.hpp"

namespace creek::linalg::detail {

/// C = (I - tau v v^H) C, where v has a 1 that is not stored before its `below` elements.
template <scalar T>
void apply_reflector(index_t below, const T* v, T tau, matrix_view<T> C);

/// A = Q R column by column, of any shape, as LAPACK's geqr2: for small matrices. One thread.
template <scalar T>
void factor_columns(matrix_view<T> A, T* tau);

/// Factors a panel of m x n, m >= n: R on and above the diagonal, V below it (its ones are not
/// stored), tau[0, n), and the upper triangle of T (n x n).
/// One thread.
/// Source: [Elmroth 2000].
template <scalar T>
void factor_reflectors(matrix_view<T> A, T* tau, matrix_view<T> triangle);

/// The reflector that maps (alpha, x) to (beta, 0): alpha becomes beta, x becomes v, whose first
/// element is 1. Returns tau. As LAPACK's larfg, but for its rescaling of vectors near underflow.
template <scalar T>
T make_reflector(T& alpha, index_t n, T* x);

/// T from V and tau. Source: [Schreiber 1989].
template <scalar T>
void form_triangle(const_view<T> V, const T* tau, matrix_view<T> triangle);

/// Column j of a triangle T of which there are j columns: -tau T x, where x, V^H v, is in the
/// column, and tau.
template <scalar T>
void add_to_triangle(matrix_view<T> triangle, index_t j, T tau) {
  T* const column = triangle.column(j);
  for (index_t i = 0; i < j; ++i) column[i] *= -tau;
  // From above: row i needs only those from i on.
  for (index_t i = 0; i < j; ++i) {
    T sum{};
    for (index_t p = i; p < j; ++p) sum += triangle(i, p) * column[p];
    column[i] = sum;
  }
  column[j] = tau;
}

/// Fills the block of a triangle T across two groups of reflectors, -T1 (V1^H V2) T2, from T1 and
/// T2, which are in it, and V1^H V2.
template <scalar T>
void join_triangles(const matrix<T>& overlap, matrix_view<T> triangle);

/// A block of reflectors packed, to be applied to many blocks of columns.
template <scalar T>
class packed_reflectors {
 public:
  /// V is m x n, m >= n, as factor_reflectors leaves it. With `transposed`, Q^H is applied, else Q.
  packed_reflectors(const_view<T> V, const_view<T> triangle, bool transposed);

  /// C = Q C or Q^H C, for C of m rows. One thread; several may do so at once.
  void apply(matrix_view<T> C) const;

 private:
  index_t step() const noexcept;

  index_t rows_;
  index_t order_;
  pack_array<real<T>> v_;         // V as a left operand
  pack_array<real<T>> v_turned_;  // V^H as one, in steps over its depth
  pack_array<real<T>> t_;         // T or T^H as one
};

}  // namespace creek::linalg::detail

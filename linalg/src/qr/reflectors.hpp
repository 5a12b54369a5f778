// SPDX-License-Identifier: Apache-2.0
// Blocks of Householder reflectors, I - V T V^H, the factors of Q in QR factorizations.
#pragma once

#include <vector>

#include <creek/linalg/detail/packed_vectors.hpp>
#include <creek/linalg/matrix.hpp>

#include "kernels/pack_memory.hpp"
#include "kernels/packing.hpp"
#include "kernels/vector_kernels.hpp"

namespace creek::linalg::detail {

/// Returns the Euclidean norm, scaled if squares would overflow or underflow.
template <scalar T>
real<T> euclidean_norm(index_t n, const T* x);

/// C = (I - tau v v^H) C, where v is an implicit 1 followed by `below` stored elements.
template <scalar T>
void apply_reflector(index_t below, const T* v, T tau, matrix_view<T> C);

/// A = Q R column by column, any shape, like LAPACK's geqr2: for small matrices. One thread.
template <scalar T>
void factor_columns(matrix_view<T> A, T* tau);

/// Factors a panel of m x n, m >= n: R on and above the diagonal, V below it (its ones are not
/// stored), tau[0, n), and the upper triangle of T (n x n).
/// One thread.
/// Source: [Elmroth 2000].
template <scalar T>
void factor_reflectors(matrix_view<T> A, T* tau, matrix_view<T> triangle);

/// Computes the reflector that maps (alpha, x) to (beta, 0): alpha becomes beta, x becomes v
/// without its leading 1. Returns tau. Like LAPACK's larfg.
template <scalar T>
T make_reflector(T& alpha, index_t n, T* x);

/// Computes T from V and tau. Source: [Schreiber 1989].
template <scalar T>
void form_triangle(const_view<T> V, const T* tau, matrix_view<T> triangle);

/// Completes column j of a triangle T of j columns: T(0:j, j) = -tau T x, where the column holds x
/// = V^H v on entry, and T(j, j) = tau.
template <scalar T>
void add_to_triangle(matrix_view<T> triangle, index_t j, T tau) {
  T* const column = triangle.column(j);
  for (index_t i = 0; i < j; ++i) column[i] *= -tau;
  // By columns of T: once x(p) is a factor, only elements above it still need it.
  for (index_t p = 0; p < j; ++p) {
    const T* const factors = triangle.column(p);
    const T x = column[p];
    for (index_t i = 0; i < p; ++i) column[i] += times(factors[i], x);
    column[p] = times(factors[p], x);
  }
  column[j] = tau;
}

/// T12 = -T1 (V1^H V2) T2, the block of a triangle T that joins two groups of reflectors; T1 and T2
/// are already in it, `overlap` is V1^H V2.
template <scalar T>
void join_triangles(const matrix<T>& overlap, matrix_view<T> triangle);

/// Returns the first rows of V, as many as it has columns, with their ones and zeros.
template <scalar T>
matrix<T> unit_triangle(const_view<T> V) {
  matrix<T> top(V.cols(), V.cols());
  for (index_t j = 0; j < V.cols(); ++j) {
    top(j, j) = T{1};
    for (index_t i = j + 1; i < V.cols(); ++i) top(i, j) = V(i, j);
  }
  return top;
}

/// Packed block of reflectors, to be applied to many blocks of columns.
template <scalar T>
class packed_reflectors {
 public:
  /// V is m x n, m >= n, from factor_reflectors. Applies Q^H if `transposed`, else Q.
  packed_reflectors(const_view<T> V, const_view<T> triangle, bool transposed);

  /// C = Q C or Q^H C, C has m rows. Runs in one thread; several threads may apply it at once.
  void apply(matrix_view<T> C) const;

 private:
  index_t order_;
  packed_vectors<T> vectors_;
  pack_array<real<T>> t_;  // T or T^H as a left operand
};

}  // namespace creek::linalg::detail

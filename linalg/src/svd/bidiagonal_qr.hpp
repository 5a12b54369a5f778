// SPDX-License-Identifier: Apache-2.0
// Singular values of small bidiagonal matrices by the implicit zero-shift QR iteration.
#pragma once

#include <utility>

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// Columns of numbers that rotations combine: the singular vectors, or some of their rows.
template <class R>
struct rotated_columns {
  R* data = nullptr;
  index_t length = 0;  ///< 0: there are none
  index_t leading = 1;

  R* column(index_t j) const noexcept { return data + j * leading; }
  /// (x, y) = (c x + s y, c y - s x) for the columns i and j.
  void rotate(index_t i, index_t j, R c, R s) const noexcept {
    if (length == 0) return;
    R* const x = column(i);
    R* const y = column(j);
    for (index_t k = 0; k < length; ++k) {
      const R a = x[k], b = y[k];
      x[k] = c * a + s * b;
      y[k] = c * b - s * a;
    }
  }
  void negate(index_t j) const noexcept {
    if (length == 0) return;
    for (index_t k = 0; k < length; ++k) column(j)[k] = -column(j)[k];
  }
  void swap(index_t i, index_t j) const noexcept {
    if (length == 0) return;
    for (index_t k = 0; k < length; ++k) std::swap(column(i)[k], column(j)[k]);
  }
};

/// The rows of a matrix of T as real columns: rotations are real for complex matrices too.
template <scalar T>
rotated_columns<real<T>> columns_of(matrix_view<T> A) noexcept {
  constexpr index_t parts = is_complex<T> ? 2 : 1;
  return {reinterpret_cast<real<T>*>(A.data()), parts * A.rows(), parts * A.leading()};
}

/// B = W diag(s) Z^T for a bidiagonal B with the diagonal d[0, n) and the superdiagonal e[0, n -
/// 1). d becomes s, not sorted, U becomes U W and V becomes V Z. Returns 0, or the number of
/// superdiagonal elements that did not converge.
/// Source: [Demmel 1990].
template <class R>
index_t bidiagonal_qr(index_t n, R* d, R* e, const rotated_columns<R>& U,
                      const rotated_columns<R>& V);

/// Makes an upper bidiagonal matrix of n x (n + 1), with n superdiagonal elements, square: V
/// becomes V Z and U becomes U W, and the last column of Z spans the null space.
template <class R>
void make_square(index_t n, R* d, R* e, const rotated_columns<R>& U, const rotated_columns<R>& V);

/// Sorts the values in decreasing order, with their vectors.
template <class R>
void sort_values(index_t n, R* d, const rotated_columns<R>& U, const rotated_columns<R>& V);

}  // namespace creek::linalg::detail

// SPDX-License-Identifier: Apache-2.0
// QR of a piece of rows that fits the second-level cache, in one thread.
#pragma once

#include <creek/linalg/matrix.hpp>

#include "kernels/pack_memory.hpp"

namespace creek::linalg::detail {

/// Memory for a piece: whole tiles of rows for the kernels, the last ones zero, and columns at
/// distances that are not multiples of a page, which the caches would hold few of.
template <scalar T>
class piece_copy {
 public:
  explicit piece_copy(const_view<T> A);

  matrix_view<T> view() const { return V_; }
  /// Copies the rows back to A.
  void copy_to(matrix_view<T> A) const;

 private:
  index_t rows_;
  index_t leading_;
  pack_array<T> memory_;
  matrix_view<T> V_;
};

/// Returns the number of rows of a piece_copy of `rows` rows.
template <scalar T>
index_t piece_rows(index_t rows) noexcept;

/// Factors a panel like factor_reflectors, by factor_piece on a copy. T is real.
template <scalar T>
void factor_copied(matrix_view<T> A, T* tau, matrix_view<T> triangle);

/// V = Q R by Householder reflectors. V, m x n with m >= n, becomes the vectors with their ones and
/// zeros; R and `triangle` (T of I - V T V^H) are n x n and zero on entry. V is a piece_copy.
template <scalar T>
void factor_piece(matrix_view<T> V, matrix_view<T> R, matrix_view<T> triangle);

}  // namespace creek::linalg::detail

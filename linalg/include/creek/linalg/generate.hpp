// SPDX-License-Identifier: Apache-2.0
// Matrices from a seed: the same on every machine, whoever makes which block of them.
#pragma once

#include <creek/linalg/matrix.hpp>
#include <cstdint>
#include <vector>

namespace creek::linalg {

enum class matrix_kind {
  /// Elements (of complex numbers both parts) uniform in [-1, 1).
  uniform,
  /// Uniform but for the diagonal, which is greater than the sum of the magnitudes of its row's
  /// and of its column's other elements: factored without pivoting.
  dominant,
  /// Symmetric or hermitian and dominant: positive definite. Square.
  positive_definite
};

struct matrix_recipe {
  matrix_kind kind = matrix_kind::uniform;
  std::uint64_t seed = 1;
  /// If not 0, the matrix's 2-norm is 1 and its 2-norm condition number is this, at least 1 (but
  /// for rounding to T): singular values evenly spaced from 1 to 1 / condition between two random
  /// reflections, or the same one where it has to be hermitian. Of no dominant matrix.
  double condition = 0;
};

/// The elements of one such matrix, as a function of their position. Each draws its own numbers
/// from a hash of seed, column and row (splitmix64), so blocks may be filled in any order and by
/// any workers at once; only additions, multiplications and divisions follow, each rounded once.
template <scalar T>
class matrix_generator {
 public:
  /// O(1); with a condition O(rows + cols), also of memory. Throws creek::usage_error for a recipe
  /// that has no matrix of this shape.
  matrix_generator(const matrix_recipe& recipe, index_t rows, index_t cols);

  /// Fills a view with the block of the matrix whose first element is (row, col). Any thread.
  void fill(matrix_view<T> block, index_t row, index_t col) const noexcept;

 private:
  using wide = std::conditional_t<is_complex<T>, std::complex<double>, double>;

  void fill_column(T* to, index_t rows, index_t row, index_t col) const noexcept;
  void fill_conditioned(T* to, index_t rows, index_t row, index_t col) const noexcept;
  double singular_value(index_t k) const noexcept;

  matrix_recipe recipe_;
  index_t rows_ = 0;
  index_t cols_ = 0;
  // With a condition the matrix is (I - 2 u u') D (I - 2 v v') = D - u p' - q v', where p and q
  // hold what does not depend on the other index.
  std::vector<wide> u_, p_, q_, v_;
};

/// The whole matrix. One thread.
template <scalar T>
matrix<T> generate(const matrix_recipe& recipe, index_t rows, index_t cols);

}  // namespace creek::linalg

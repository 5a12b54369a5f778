// SPDX-License-Identifier: Apache-2.0
// Random matrices from a seed: the same on every machine, whichever worker makes which block.
#pragma once

#include <creek/linalg/matrix.hpp>
#include <cstdint>
#include <vector>

namespace creek::linalg {

enum class matrix_kind {
  /// Elements (both parts of complex ones) are uniform in [-1, 1).
  uniform,
  /// Uniform except for the diagonal, which exceeds the sum of the magnitudes of the other elements
  /// of its row and of its column: can be factored without pivoting.
  dominant,
  /// Square, symmetric or Hermitian, and dominant: positive definite.
  positive_definite
};

struct matrix_recipe {
  matrix_kind kind = matrix_kind::uniform;
  std::uint64_t seed = 1;
  /// Condition number, at least 1; 0: none. Otherwise the 2-norm is 1 and the 2-norm condition
  /// number is this, up to rounding to T: singular values evenly spaced from 1 to 1 / condition
  /// between two random reflections (the same one if it must be Hermitian). Not for dominant.
  double condition = 0;
};

/// Elements of such a matrix as a function of their position. Each element draws its own numbers
/// from a hash of seed, column and row (splitmix64), so any workers may fill blocks in any order at
/// once; only additions, multiplications and divisions follow, each rounded once.
template <scalar T>
class matrix_generator {
 public:
  /// Takes O(1) time, or O(rows + cols) time and memory with a condition. Throws creek::usage_error
  /// if the recipe has no matrix of this shape.
  matrix_generator(const matrix_recipe& recipe, index_t rows, index_t cols);

  /// Fills `block`, whose first element is (row, col) of the matrix. May be called on any thread.
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
  // hold the parts that do not depend on the other index.
  std::vector<wide> u_, p_, q_, v_;
};

/// Returns the whole matrix. Runs in one thread.
template <scalar T>
matrix<T> generate(const matrix_recipe& recipe, index_t rows, index_t cols);

}  // namespace creek::linalg

// SPDX-License-Identifier: Apache-2.0
// QR of a panel whose rows are at the processes of a column of the grid, by Householder reflectors
// and by halves [Elmroth 2000]. A column costs one reduction, which carries its norm, its products
// with the columns to its right, and the row of the diagonal.
#pragma once

#include <cmath>
#include <limits>

#include <creek/linalg/detail/grid_reflectors.hpp>

namespace creek::linalg::detail {

/// products[c] = A(:, c)^H A(:, 0) for all columns of A.
template <scalar T>
void project_first(const_view<T> A, T* products);

/// Multiplies A(:, 0) by `factor`, and then subtracts its multiples by `weights` from the at most 7
/// other columns.
template <scalar T>
void subtract_first(matrix_view<T> A, T factor, const T* weights);

template <class Communicator, scalar T>
class grid_qr_panel {
 public:
  /// `V`: local rows of the panel from row `first` of the matrix on; becomes V with its ones and
  /// zeros.
  grid_qr_panel(grid_line<Communicator>& column, const cyclic_axis& rows, index_t first,
                matrix_view<T> V, T* tau)
      : column_(&column),
        rows_(rows.size - first),
        V_(V),
        tau_(tau),
        is_root_(rows.owner(first) == column.rank()),
        exponents_(static_cast<std::size_t>(V.cols())) {}

  /// Factors the panel; R, order x order, is set at the process that has the panel's first row.
  void run(matrix_view<T> R) {
    R_ = R;
    scale_columns();
    factor(0, V_.cols());
    for (index_t j = 0; is_root_ && j < R.cols(); ++j) {
      for (index_t i = 0; i <= j; ++i) R(i, j) = scaled(R(i, j), exponent(j));
    }
  }

 private:
  static constexpr index_t narrow = 8;

  /// Local rows below row j of the panel.
  index_t active(index_t j) const noexcept { return is_root_ ? j : 0; }
  int& exponent(index_t j) noexcept { return exponents_[static_cast<std::size_t>(j)]; }

  static T scaled(T x, int exponent) noexcept {
    if constexpr (is_complex<T>) {
      return {std::ldexp(x.real(), exponent), std::ldexp(x.imag(), exponent)};
    } else {
      return std::ldexp(x, exponent);
    }
  }
  static T conjugated(T x) noexcept {
    if constexpr (is_complex<T>) return std::conj(x);
    return x;
  }
  static real<T> largest_part(T x) noexcept {
    return std::max(std::abs(std::real(x)), std::abs(std::imag(x)));
  }
  static real<T> larger(real<T> a, real<T> b) noexcept { return a < b ? b : a; }

  /// Scales columns of tiny or huge elements by powers of two: V and tau stay the same, and no sum
  /// of squares or products overflows.
  void scale_columns() {
    std::vector<real<T>> largest(exponents_.size());
    for (index_t j = 0; j < V_.cols(); ++j) {
      real<T> most{};
      for (index_t i = 0; i < V_.rows(); ++i) most = larger(most, largest_part(V_(i, j)));
      largest[static_cast<std::size_t>(j)] = most;
    }
    column_->allreduce(std::span<real<T>>(largest), larger);
    constexpr int usual = std::numeric_limits<real<T>>::max_exponent / 8;
    for (index_t j = 0; j < V_.cols(); ++j) {
      const real<T> most = largest[static_cast<std::size_t>(j)];
      if (most == 0 || !std::isfinite(most) || std::abs(std::ilogb(most)) <= usual) continue;
      exponent(j) = std::ilogb(most);
      for (index_t i = 0; i < V_.rows(); ++i) V_(i, j) = scaled(V_(i, j), -exponent(j));
    }
  }

  void factor(index_t from, index_t to) {
    if (to - from <= narrow) {
      for (index_t j = from; j < to; ++j) eliminate(j, to);
      for (index_t j = from; is_root_ && j < to; ++j) {
        std::copy_n(&V_(from, j), j - from + 1, &R_(from, j));
        std::fill_n(&V_(from, j), j - from, T{});
        V_(j, j) = T{1};
      }
      return;
    }
    const index_t middle = from + (to - from) / 2;
    factor(from, middle);
    update(from, middle, to);
    factor(middle, to);
  }

  /// Applies the reflectors [from, middle) to the columns [middle, to), of which the rows of those
  /// reflectors move to R.
  void update(index_t from, index_t middle, index_t to) {
    const index_t k = middle - from, n = to - middle, at = active(from), m = V_.rows() - at;
    std::vector<T> memory(static_cast<std::size_t>(k * (k + n)));
    const matrix_view<T> G(memory.data(), k, k, k), W(memory.data() + k * k, k, n, k);
    const matrix_view<T> left = V_.block(at, from, m, k), C = V_.block(at, middle, m, n);
    if (m > 0) {
      herk<T>(triangle::upper, op::conjugate_transpose, real<T>(1), left, real<T>(1), G);
      gemm<T>(op::conjugate_transpose, op::none, T{1}, left, C, T{0}, W);
    }
    column_->allreduce(std::span<T>(memory), std::plus<>{});
    triangle_of_products(tau_ + from, G);
    trmm<T>(side::left, triangle::upper, op::conjugate_transpose, diagonal::stored, T{1}, G, W);
    if (m > 0) gemm<T>(op::none, op::none, T{-1}, left, W, T{1}, C);
    for (index_t j = middle; is_root_ && j < to; ++j) {
      std::copy_n(&V_(from, j), k, &R_(from, j));
      std::fill_n(&V_(from, j), k, T{});
    }
  }

  /// Makes the reflector of column j and applies it to the columns up to `to`.
  void eliminate(index_t j, index_t to) {
    // Sums of squares below this lack digits.
    constexpr real<T> small =
        std::numeric_limits<real<T>>::min() / std::numeric_limits<real<T>>::epsilon();
    const index_t at = active(j + 1), others = to - j - 1;
    const matrix_view<T> below = V_.block(at, j, V_.rows() - at, to - j);
    multiply(j, below);
    real<T> rest = std::sqrt(std::real(products_[0]));
    int exponent = 0;
    // The last row, too, has a reflector if numbers are complex.
    if ((is_complex<T> || j + 1 < rows_) && std::real(products_[0]) < small) {
      real<T> most{};
      for (index_t i = 0; i < below.rows(); ++i) most = larger(most, largest_part(below(i, 0)));
      most = column_->allreduce(most, larger);
      if (most != 0 || std::imag(row_[0]) != 0) {
        exponent = std::ilogb(larger(most, largest_part(row_[0])));
        for (index_t i = 0; i < below.rows(); ++i) below(i, 0) = scaled(below(i, 0), -exponent);
        if (is_root_) V_(j, j) = scaled(V_(j, j), -exponent);
        multiply(j, below);
        rest = larger(std::sqrt(std::real(products_[0])), std::ldexp(most, -exponent));
      }
    }
    const T alpha = row_[0];
    tau_[j] = T{};
    if (rest == 0 && std::imag(alpha) == 0) {
      if (is_root_) V_(j, j) = scaled(alpha, exponent);
      return;
    }
    const real<T> length = std::hypot(std::abs(alpha), rest);
    const real<T> beta = std::signbit(std::real(alpha)) ? length : -length;
    const T factor = T{1} / (alpha - T{beta});
    tau_[j] = (T{beta} - alpha) / beta;
    T weights[narrow];
    for (index_t c = 0; c < others; ++c) {
      weights[c] = conjugated(tau_[j]) * (row_[c + 1] + conjugated(factor * products_[c + 1]));
    }
    if (is_root_) {
      V_(j, j) = scaled(T{beta}, exponent);
      for (index_t c = 0; c < others; ++c) V_(j, j + 1 + c) -= weights[c];
    }
    subtract_first<T>(below, factor, weights);
  }

  /// Sets products_ to those of the first column of `below` with all, and row_ to the row above.
  void multiply(index_t j, matrix_view<T> below) {
    const auto width = static_cast<std::size_t>(below.cols());
    products_.assign(2 * width, T{});
    row_ = products_.data() + width;
    project_first<T>(below, products_.data());
    for (std::size_t c = 0; is_root_ && c < width; ++c)
      row_[c] = V_(j, j + static_cast<index_t>(c));
    column_->allreduce(std::span<T>(products_), std::plus<>{});
  }

  grid_line<Communicator>* column_;
  index_t rows_;
  matrix_view<T> V_, R_;
  T* tau_;
  bool is_root_;
  std::vector<int> exponents_;  // by column, of the power of two by which it was divided
  std::vector<T> products_;
  T* row_ = nullptr;
};

}  // namespace creek::linalg::detail

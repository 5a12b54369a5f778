// SPDX-License-Identifier: Apache-2.0
// Cholesky: a graph of tasks, like LU, on blocks of columns of the lower triangle or on blocks of
// rows of the upper one.
#include <creek/linalg/cholesky.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "blas3/level3.hpp"
#include "checks.hpp"
#include "cholesky_panel.hpp"
#include "column_factorization.hpp"
#include "kernels/pack_memory.hpp"
#include "kernels/product.hpp"
#include "kernels/small_kernels.hpp"
#include "kernels/vector_kernels.hpp"
#include "tiles/tile_factors.hpp"

namespace creek::linalg {
namespace detail {
namespace {

/// Maximum number of columns that are eliminated one by one.
constexpr index_t narrow_columns = 16;

/// Returns the square root of a diagonal element, or 0 if it is not positive (or NaN).
template <scalar T>
real<T> root(T diagonal_element) {
  const real<T> value = std::real(diagonal_element);
  return value > 0 ? std::sqrt(value) : real<T>{};  // not for NaN either
}

/// Factors a tall panel, whose top is the diagonal block, column by column. Returns info.
template <scalar T>
index_t cholesky_narrow(matrix_view<T> A) {
  T multipliers[narrow_columns];
  for (index_t j = 0; j < A.cols(); ++j) {
    T* const column = A.column(j) + j;
    const index_t rows = A.rows() - j;
    for (index_t p = 0; p < j; ++p) multipliers[p] = conjugated(A(j, p));
    subtract(rows, j, A.data() + j, A.leading(), multipliers, column);
    const real<T> pivot = root(column[0]);
    if (pivot == 0) return j + 1;
    column[0] = pivot;
    for (index_t i = 1; i < rows; ++i) column[i] /= pivot;
  }
  return 0;
}

}  // namespace

template <scalar T>
void subtract_product(const_view<T> L, const_view<T> M, matrix_view<T> C) {
  const index_t depth = L.cols();
  const index_t step = std::min(blocking<T>::rows(depth), C.rows());
  const pack_array<real<T>> left(packed_left_size<T>(step, depth));
  const pack_array<real<T>> right(packed_right_size<T>(depth, C.cols()));
  pack_right(strided_of<T>(M, op::conjugate_transpose), depth, C.cols(), T{-1}, right.data());
  for (index_t i = 0; i < C.rows(); i += step) {
    const index_t rows = std::min(step, C.rows() - i);
    pack_left(strided<T>{&L(i, 0), 1, L.leading()}, rows, depth, left.data());
    multiply_packed(rows, C.cols(), depth, left.data(), right.data(), &C(i, 0), C.leading(),
                    part::lower, i);
  }
}

template <scalar T>
index_t cholesky_panel(matrix_view<T> A) {
  if (A.cols() <= narrow_columns) return cholesky_narrow(A);
  const index_t half = round_up(A.cols() / 2, 8);
  const index_t rest = A.cols() - half;
  if (const index_t info = cholesky_panel(A.columns(0, half))) return info;
  const index_t below = A.rows() - half;
  subtract_product<T>(A.block(half, 0, below, half), A.block(half, 0, rest, half),
                      A.block(half, half, below, rest));
  const index_t info = cholesky_panel(A.block(half, half, below, rest));
  return info == 0 ? 0 : info + half;
}

namespace {

/// Rows of a panel below its diagonal block, packed for all blocks of columns that they update.
template <scalar T>
class packed_rows {
 public:
  explicit packed_rows(matrix_view<T> rows)
      : rows_(rows), left_(packed_left_size<T>(rows.rows(), rows.cols())) {
    pack_left(strided<T>{rows.data(), 1, rows.leading()}, rows.rows(), rows.cols(), left_.data());
  }

  /// C -= L(first:end, :) L(first:first+n, :)^H, n columns; `first` is a multiple of a micro-tile's
  /// rows.
  void update(index_t first, matrix_view<T> C) const {
    const index_t depth = rows_.cols();
    const pack_array<real<T>> right(packed_right_size<T>(depth, C.cols()));
    const auto upper = rows_.block(first, 0, C.cols(), depth);
    pack_right(strided_of<T>(upper, op::conjugate_transpose), depth, C.cols(), T{-1}, right.data());
    const index_t step = blocking<T>::rows(depth);
    for (index_t i = 0; i < C.rows(); i += step) {
      multiply_packed(std::min(step, C.rows() - i), C.cols(), depth,
                      left_.data() + packed_left_size<T>(first + i, depth), right.data(), &C(i, 0),
                      C.leading(), part::lower, i);
    }
  }

 private:
  matrix_view<T> rows_;
  pack_array<real<T>> left_;
};

/// Cholesky of the lower triangle, by tasks on blocks of columns. Step k:
///   A(k, k) = L(k, k) L(k, k)^H                     factor
///   L(k+1:m, k) = A(k+1:m, k) L(k, k)^-H
///   A(j:m, j) -= L(j:m, k) L(j, k)^H                update, for each j > k
template <scalar T>
class cholesky_by_columns final : public column_factorization<T, packed_rows<T>> {
 public:
  cholesky_by_columns(matrix_view<T> A, index_t block)
      : column_factorization<T, packed_rows<T>>(A, block) {}

 private:
  /// Returns block column j from its diagonal down, whatever the step.
  matrix_view<T> part(index_t, index_t j) const override { return this->below(j, j); }

  double products(index_t k, index_t j) const override {
    const matrix_view<T> C = this->below(j, j);
    const auto rows = static_cast<double>(C.rows()), cols = static_cast<double>(C.cols());
    if (k == j) return rows * cols * cols / 2 - cube(C.cols()) / 3;
    return (rows - cols / 2) * cols * static_cast<double>(this->block_);
  }

  std::unique_ptr<packed_rows<T>> factor(index_t k) override {
    const matrix_view<T> panel = this->below(k, k);
    this->note(k, cholesky_panel(panel));
    const index_t rest = panel.rows() - panel.cols();
    if (this->info_ != 0 || rest == 0) return nullptr;
    return std::make_unique<packed_rows<T>>(panel.block(panel.cols(), 0, rest, panel.cols()));
  }

  void update(const packed_rows<T>& panel, index_t k, index_t j) const override {
    panel.update(this->first(j - k - 1), this->below(j, j));
  }
};

/// Factors a small upper triangle, A = U^H U, row by row in each column. Returns info.
template <scalar T>
index_t factor_upper_narrow(matrix_view<T> A) {
  for (index_t j = 0; j < A.cols(); ++j) {
    for (index_t i = 0; i <= j; ++i) {
      T sum = A(i, j);
      for (index_t p = 0; p < i; ++p) sum -= conjugated(A(p, i)) * A(p, j);
      if (i < j) {
        A(i, j) = sum / std::real(A(i, i));
      } else {
        const real<T> pivot = root(sum);
        if (pivot == 0) return j + 1;
        A(j, j) = pivot;
      }
    }
  }
  return 0;
}

/// B = U^-H B, in one thread.
template <scalar T>
void solve_across(const_view<T> U, matrix_view<T> B) {
  trsm_by<this_thread, T>(side::left, triangle::upper, op::conjugate_transpose, diagonal::stored,
                          T{1}, U, B);
}

/// Upper triangle, by halves, in one thread:
///   A(1, 1) = U(1, 1)^H U(1, 1)
///   U(1, 2) = U(1, 1)^-H A(1, 2)
///   A(2, 2) -= U(1, 2)^H U(1, 2), which is factored next
template <scalar T>
index_t factor_upper(matrix_view<T> A) {
  const index_t n = A.cols();
  if (n <= narrow_columns) return factor_upper_narrow(A);
  const index_t half = round_up(n / 2, 8);
  const matrix_view<T> first = A.block(0, 0, half, half);
  const matrix_view<T> across = A.block(0, half, half, n - half);
  const matrix_view<T> second = A.block(half, half, n - half, n - half);
  if (const index_t info = factor_upper(first)) return info;
  solve_across<T>(first, across);
  herk_by<this_thread, T>(triangle::upper, op::conjugate_transpose, real<T>{-1}, across, real<T>{1},
                          second);
  const index_t info = factor_upper(second);
  return info == 0 ? 0 : info + half;
}

/// Block row of the upper triangle right of its diagonal block, packed for all block rows that it
/// updates.
template <scalar T>
class packed_row {
 public:
  explicit packed_row(matrix_view<T> row)
      : row_(row), right_(packed_right_size<T>(row.rows(), row.cols())) {
    pack_right(strided<T>{row.data(), 1, row.leading()}, row.rows(), row.cols(), T{-1},
               right_.data());
  }

  /// C -= U(:, first:first+m)^H U(:, first:end), m rows; `first` is a multiple of a micro-tile's
  /// columns.
  void update(index_t first, matrix_view<T> C) const {
    const index_t depth = row_.rows();
    const pack_array<real<T>> left(packed_left_size<T>(C.rows(), depth));
    const auto upper = row_.columns(first, C.rows());
    pack_left(strided_of<T>(upper, op::conjugate_transpose), C.rows(), depth, left.data());
    multiply_packed(C.rows(), C.cols(), depth, left.data(),
                    right_.data() + packed_right_size<T>(depth, first), C.data(), C.leading(),
                    part::upper);
  }

 private:
  matrix_view<T> row_;
  pack_array<real<T>> right_;
};

/// Cholesky of the upper triangle, by tasks on blocks of rows. Step k:
///   A(k, k) = U(k, k)^H U(k, k)                     factor
///   U(k, k+1:n) = U(k, k)^-H A(k, k+1:n)
///   A(j, j:n) -= U(k, j)^H U(k, j:n)                update, for each j > k
template <scalar T>
class cholesky_by_rows final : public column_factorization<T, packed_row<T>> {
 public:
  cholesky_by_rows(matrix_view<T> A, index_t block)
      : column_factorization<T, packed_row<T>>(A, block) {}

 private:
  /// Returns block row j from its diagonal on, whatever the step.
  matrix_view<T> part(index_t, index_t j) const override {
    const index_t from = this->first(j);
    return this->A_.block(from, from, this->order(j), this->steps_ - from);
  }

  double products(index_t k, index_t j) const override {
    const matrix_view<T> C = part(k, j);
    const auto rows = static_cast<double>(C.rows()), cols = static_cast<double>(C.cols());
    if (k == j) return cols * rows * rows / 2 - cube(C.rows()) / 3;
    return (cols - rows / 2) * rows * static_cast<double>(this->block_);
  }

  std::unique_ptr<packed_row<T>> factor(index_t k) override {
    const matrix_view<T> row = part(k, k);
    const matrix_view<T> first = row.columns(0, row.rows());
    this->note(k, factor_upper(first));
    const index_t rest = row.cols() - row.rows();
    if (this->info_ != 0 || rest == 0) return nullptr;
    const matrix_view<T> across = row.columns(row.rows(), rest);
    solve_across<T>(first, across);
    return std::make_unique<packed_row<T>>(across);
  }

  void update(const packed_row<T>& panel, index_t k, index_t j) const override {
    panel.update(this->first(j) - this->first(k + 1), part(k, j));
  }
};

/// Factors a matrix of at most max_small_order; the upper triangle as the lower one of a copy.
template <scalar T>
index_t factor_small(triangle stored, matrix_view<T> A) noexcept {
  const auto factor = small_kernels_of<T>().cholesky;
  const index_t n = A.rows();
  if (stored == triangle::lower) return factor(n, A.data(), A.leading());
  T turned[max_small_order * max_small_order];
  for (index_t j = 0; j < n; ++j) {
    for (index_t i = 0; i <= j; ++i) turned[i * n + j] = A(i, j);
  }
  const index_t info = factor(n, turned, n);
  for (index_t j = 0; j < n; ++j) {
    for (index_t i = 0; i <= j; ++i) A(i, j) = turned[i * n + j];
  }
  return info;
}

}  // namespace

template <scalar T>
index_t potrf_here(triangle stored, matrix_view<T> A) {
  if (A.empty()) return 0;
  if constexpr (!is_complex<T>) {
    if (is_small<T>(A.rows(), A.cols())) return factor_small(stored, A);
  }
  return stored == triangle::lower ? cholesky_panel(A) : factor_upper(A);
}

}  // namespace detail

using namespace detail;

template <scalar T>
index_t potrf(triangle stored, matrix_view<T> A, const cholesky_options& options) {
  require(A.rows() == A.cols(), "potrf", "A must be square");
  require(options.block >= 0, "potrf", "block must not be negative");
  if (options.report != nullptr) *options.report = {};
  const index_t n = A.rows();
  if (n == 0) return 0;
  if (is_small<T>(n, n) && options.block == 0 && options.report == nullptr)
    return potrf_here(stored, A);
  const index_t wide = options.block != 0 ? options.block : n <= 1500 ? 48 : n <= 3000 ? 96 : 192;
  // Each packed panel's rows or columns for later blocks must begin with a whole strip.
  const auto& kernels = micro_kernels_of<real<T>>();
  if (stored == triangle::upper) {
    return cholesky_by_rows<T>(A, round_up(std::min(wide, n), kernels.cols)).run(options.report);
  }
  const index_t strip = kernels.rows / reals<T>;
  return cholesky_by_columns<T>(A, round_up(std::min(wide, n), strip)).run(options.report);
}

template <scalar T>
void potrs(triangle stored, input<T> factor, matrix_view<T> B) {
  require(factor.rows() == factor.cols() && factor.rows() == B.rows(), "potrs",
          "the factor must be square, and B have as many rows");
  const bool lower = stored == triangle::lower;
  const op first = lower ? op::none : op::conjugate_transpose;
  const op second = lower ? op::conjugate_transpose : op::none;
  trsm<T>(side::left, stored, first, diagonal::stored, T{1}, factor, B);
  trsm<T>(side::left, stored, second, diagonal::stored, T{1}, factor, B);
}

template <scalar T>
index_t posv(triangle stored, matrix_view<T> A, matrix_view<T> B, const cholesky_options& options) {
  require(A.rows() == A.cols() && A.rows() == B.rows(), "posv",
          "A must be square, and B have as many rows");
  const index_t info = potrf(stored, A, options);
  if (info == 0) potrs<T>(stored, A, B);
  return info;
}

#define CREEK_INSTANTIATE(letter, T)                                                       \
  template index_t detail::cholesky_panel<T>(matrix_view<T>);                              \
  template void detail::subtract_product<T>(const_view<T>, const_view<T>, matrix_view<T>); \
  template index_t detail::potrf_here<T>(triangle, matrix_view<T>);                        \
  template index_t potrf<T>(triangle, matrix_view<T>, const cholesky_options&);            \
  template void potrs<T>(triangle, const_view<T>, matrix_view<T>);                         \
  template index_t posv<T>(triangle, matrix_view<T>, matrix_view<T>, const cholesky_options&);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg

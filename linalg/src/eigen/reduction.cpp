// SPDX-License-Identifier: Apache-2.0
#include "reduction.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include <creek/linalg/qr.hpp>

#include "hermitian_product.hpp"
#include "kernels/pack_memory.hpp"
#include "kernels/product.hpp"
#include "qr/reflectors.hpp"

namespace creek::linalg::detail {
namespace {

/// Columns that are reduced before the rest of the matrix is updated.
constexpr index_t reduced_columns = 32;

/// Reduces the first columns of A. The rest of A is not touched: the reflectors V and the vectors
/// W of its update A - V W^H - W V^H are kept until all columns of the panel are reduced.
/// Source: LAPACK's latrd.
template <scalar T>
class tridiagonal_panel {
 public:
  using R = real<T>;

  /// Makes room for matrices of order n. Throws std::bad_alloc.
  explicit tridiagonal_panel(index_t n)
      : rows_(n),
        memory_(reals<T> * (n * 3 * reduced_columns + split_hermitian_product<T>::room(n) +
                            2 * reduced_columns)),
        V_(reinterpret_cast<T*>(memory_.data())),
        W_(V_ + n * reduced_columns),
        partial_(V_ + n * 3 * reduced_columns),
        factors_(partial_ + split_hermitian_product<T>::room(n)) {}

  void reduce(matrix_view<T> A, index_t columns, R* d, R* e, T* tau) {
    A_ = A;
    const index_t n = A.rows();
    for (index_t i = 0; i < columns; ++i) {
      update_column(i);
      T* const column = &A(i, i);
      d[i] = std::real(column[0]);
      column[0] = d[i];
      if (i + 1 == n) return;
      tau[i] = make_reflector(column[1], n - i - 2, column + 2);
      e[i] = std::real(column[1]);
      T* const v = at(V_, i + 1, i);
      v[0] = T{1};
      std::copy_n(column + 2, n - i - 2, v + 1);
      make_w(i, tau[i]);
    }
  }

  /// Updates the rest of A after `columns` of them.
  void update(index_t columns) {
    const index_t rest = A_.rows() - columns;
    T* const copy = W_ + rows_ * columns;
    for (index_t j = 0; j < columns; ++j) {
      std::copy_n(V_ + columns + j * rows_, rest, copy + columns + j * rows_);
    }
    // [V W] [W V]^H, where V stands behind W again.
    const strided<T> left{V_ + columns, 1, rows_};
    const strided<T> right =
        strided_of(const_view<T>(W_ + columns, rest, 2 * columns, rows_), op::conjugate_transpose);
    multiply_add(T{-1}, left, right, 2 * columns, A_.block(columns, columns, rest, rest),
                 part::lower);
  }

 private:
  T* at(T* base, index_t i, index_t j) const noexcept { return base + i + j * rows_; }

  void update_column(index_t i) noexcept {
    T* const column = &A_(i, i);
    const index_t rows = A_.rows() - i;
    for (index_t j = 0; j < i; ++j) {
      factors_[j] = conjugated(*at(W_, i, j));
      factors_[i + j] = conjugated(*at(V_, i, j));
    }
    subtract(rows, i, V_ + i, rows_, factors_, column);
    subtract(rows, i, W_ + i, rows_, factors_ + i, column);
  }

  void make_w(index_t i, T tau) {
    const index_t first = i + 1, rows = A_.rows() - first;
    const T* const v = at(V_, first, i);
    T* const w = at(W_, first, i);
    const const_view<T> below = A_.block(first, first, rows, rows);
    split_hermitian_product<T>::multiply(below, v, partial_, w, [&] {
      project(rows, i, W_ + first, rows_, v, factors_);
      project(rows, i, V_ + first, rows_, v, factors_ + i);
    });
    subtract(rows, i, V_ + first, rows_, factors_, w);
    subtract(rows, i, W_ + first, rows_, factors_ + i, w);
    for (index_t r = 0; r < rows; ++r) w[r] = times(tau, w[r]);
    const T half = times(tau, dot(rows, w, v)) / R{2};
    subtract(rows, 1, v, rows_, &half, w);
  }

  index_t rows_;
  pack_array<R> memory_;
  T* V_;
  T* W_;
  T* partial_;
  T* factors_;
  matrix_view<T> A_;
};

}  // namespace

template <scalar T>
void reduce_lower(matrix_view<T> A, real<T>* d, real<T>* e, T* tau) {
  index_t n = A.rows();
  tridiagonal_panel<T> panel(n);
  for (index_t k = 0; n > 0;) {
    const index_t columns = n <= reduced_columns ? n : reduced_columns;
    panel.reduce(A.block(k, k, n, n), columns, d + k, e + k, tau + k);
    if (columns < n) panel.update(columns);
    k += columns;
    n -= columns;
  }
}

template <scalar T>
void form_small_q(matrix_view<T> A, const T* tau) noexcept {
  const index_t n = A.rows();
  if (n == 0) return;
  for (index_t j = n - 1; j > 0; --j) {
    T* const column = A.column(j);
    column[0] = T{};
    std::copy(A.column(j - 1) + j, A.column(j - 1) + n, column + j);
  }
  std::fill_n(A.column(0), n, T{});
  A(0, 0) = T{1};
  // From the last reflector on, as LAPACK's org2r.
  for (index_t k = n - 2; k >= 0; --k) {
    T* const v = &A(k + 1, k + 1);
    const index_t below = n - k - 2;
    if (below > 0) {
      apply_reflector(below, v + 1, tau[k], A.block(k + 1, k + 2, below + 1, below));
    }
    for (index_t i = 1; i <= below; ++i) v[i] = -times(tau[k], v[i]);
    v[0] = T{1} - tau[k];
    for (index_t i = 1; i <= k; ++i) A(i, k + 1) = T{};
  }
}

template <scalar T>
void apply_q(const_view<T> A, const T* tau, matrix_view<T> C) {
  const index_t n = A.rows() - 1;
  if (n <= 0) return;
  ormqr(side::left, op::none, A.block(1, 0, n, n), std::span(tau, static_cast<std::size_t>(n)),
        C.block(1, 0, n, C.cols()));
}

#define CREEK_INSTANTIATE(letter, T)                                     \
  template void reduce_lower<T>(matrix_view<T>, real<T>*, real<T>*, T*); \
  template void form_small_q<T>(matrix_view<T>, const T*) noexcept;      \
  template void apply_q<T>(const_view<T>, const T*, matrix_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail

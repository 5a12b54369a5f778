// SPDX-License-Identifier: Apache-2.0
#include "pair_elimination.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "blas3/level3.hpp"
#include "kernels/product.hpp"
#include "kernels/triangular.hpp"
#include "lu_panel.hpp"

namespace creek::linalg::detail {
namespace {

/// Solves with a packed unit lower triangle for the columns of C, one strip; keeps it in `strip`.
template <scalar T>
void solve_columns(const real<T>* triangle, index_t order, matrix_view<T> C, real<T>* strip) {
  const index_t width = micro_kernels_of<real<T>>().cols;
  real<T>* const end = strip + packed_right_size<T>(solve_depth<T>(order), width);
  pack_right(strided_of<T>(C, op::none), order, C.cols(), T{1}, strip);
  std::fill(strip + packed_right_size<T>(order, width), end, real<T>{});
  solve_packed<T>(triangle, order, strip, C.cols());
  unpack_right(strip, order, C.cols(), C.data(), 1, C.leading());
}

/// Returns a row of a stacked pair: of the upper block if row < order, else of the lower one.
template <scalar T>
T& stacked(T* upper, index_t order, T* lower, index_t row) {
  return row < order ? upper[row] : lower[row - order];
}

/// Copies U and A below each other, as factor_panel needs them.
template <scalar T>
matrix<T> stack(const_view<T> U, const_view<T> A) {
  const index_t n = U.cols();
  matrix<T> panel(n + A.rows(), n);
  for (index_t j = 0; j < n; ++j) std::copy_n(U.column(j), j + 1, &panel(0, j));
  copy<T>(A, panel.view().block(n, 0, A.rows(), n));
  return panel;
}

template <scalar T>
void unstack(const matrix<T>& panel, matrix_view<T> U, matrix_view<T> A, matrix_view<T> L) {
  const index_t n = U.cols();
  for (index_t j = 0; j < n; ++j) {
    std::copy_n(&panel(0, j), j + 1, U.column(j));
    for (index_t i = j + 1; i < n; ++i) L(i, j) = panel(i, j);
  }
  copy<T>(panel.view().block(n, 0, A.rows(), n), A);
}

}  // namespace

template <scalar T>
packed_block<T>::packed_block(const_view<T> L, const index_t* pivots)
    : order_(L.rows()), rows_(pivots, order_, order_), triangle_(packed_triangle_size<T>(order_)) {
  pack_triangle(strided_of(L, op::none), diagonal::unit, order_, triangle_.data());
}

template <scalar T>
void packed_block<T>::apply(matrix_view<T> C) const {
  const index_t width = micro_kernels_of<real<T>>().cols;
  const pack_array<real<T>> strip(packed_right_size<T>(solve_depth<T>(order_), width));
  rows_.apply(C);
  for (index_t j = 0; j < C.cols(); j += width) {
    solve_columns(triangle_.data(), order_, C.columns(j, std::min(width, C.cols() - j)),
                  strip.data());
  }
}

template <scalar T>
void eliminate_pair(matrix_view<T> U, matrix_view<T> A, matrix_view<T> L, index_t* pivots) {
  const index_t n = A.cols();
  const index_t m = A.rows();
  const index_t inner = L.rows();
  for (index_t k = 0; k < n; k += inner) {
    const index_t width = std::min(inner, n - k);
    const matrix_view<T> upper = U.block(k, k, width, width);
    const matrix_view<T> lower = A.columns(k, width);
    const matrix_view<T> moved = L.block(0, k, width, width);
    matrix<T> panel = stack<T>(upper, lower);
    // Rows of U below the current one are zero in this column, so other pivots come from A.
    factor_panel(panel.view(), pivots + k);
    unstack(panel, upper, lower, moved);
    const index_t done = k + width;
    if (done == n) break;
    packed_elimination<T>(moved, lower, pivots + k)
        .apply(U.block(k, done, width, n - done), A.block(0, done, m, n - done));
  }
}

template <scalar T>
packed_elimination<T>::packed_elimination(const_view<T> L, const_view<T> A, const index_t* pivots)
    : rows_(A.rows()),
      order_(A.cols()),
      inner_(std::min(L.rows(), order_)),
      triangle_size_(packed_triangle_size<T>(inner_)),
      left_size_(packed_left_size<T>(rows_, inner_)),
      triangles_(groups() * triangle_size_),
      left_(groups() * left_size_) {
  for (index_t g = 0; g < groups(); ++g) {
    const index_t first = g * inner_;
    const index_t width = width_of(g);
    exchanges_.emplace_back(pivots + first, width, width + rows_);
    pack_triangle(strided_of<T>(L.block(0, first, width, width), op::none), diagonal::unit, width,
                  triangles_.data() + g * triangle_size_);
    real<T>* const left = left_.data() + g * left_size_;
    pack_left(strided_of<T>(A.columns(first, width), op::none), rows_, width, left);
    // Negated once here instead of negating the solved rows in every task.
    const index_t count = packed_left_size<T>(rows_, width);
    std::transform(left, left + count, left, std::negate<>{});
  }
}

template <scalar T>
void packed_elimination<T>::apply(matrix_view<T> C1, matrix_view<T> C2) const {
  // All groups process a strip of columns before the next one, so that it stays in the L1 cache.
  const index_t width = micro_kernels_of<real<T>>().cols;
  const pack_array<real<T>> strip(packed_right_size<T>(solve_depth<T>(inner_), width));
  const pack_array<T> scratch(2 * inner_);
  for (index_t j = 0; j < C1.cols(); j += width) {
    const index_t here = std::min(width, C1.cols() - j);
    for (index_t g = 0; g < groups(); ++g) {
      const matrix_view<T> upper = C1.block(g * inner_, j, width_of(g), here);
      const matrix_view<T> lower = C2.columns(j, here);
      exchange(g, upper, lower, scratch.data());
      apply_group(g, upper, lower, strip.data());
    }
  }
}

template <scalar T>
void packed_elimination<T>::exchange(index_t g, matrix_view<T> C1, matrix_view<T> C2,
                                     T* scratch) const {
  const row_exchanges& rows = exchanges_[static_cast<std::size_t>(g)];
  for (index_t j = 0; j < C1.cols(); ++j) {
    T* const upper = C1.column(j);
    rows.begin(upper, C2.column(j), C2.column(std::min(j + 1, C2.cols() - 1)), scratch);
    for (index_t i = 0; i < C1.rows(); ++i) upper[i] = rows.row(i, scratch);
  }
}

template <scalar T>
void packed_elimination<T>::apply_group(index_t g, matrix_view<T> C1, matrix_view<T> C2,
                                        real<T>* strip) const {
  const index_t width = C1.rows();
  solve_columns(triangles_.data() + g * triangle_size_, width, C1, strip);
  multiply_packed(rows_, C2.cols(), width, left_.data() + g * left_size_, strip, C2.data(),
                  C2.leading());
}

template <scalar T>
void eliminate_block_turned(op how, const_view<T> L, const index_t* pivots, matrix_view<T> C) {
  trsm_by<this_thread, T>(side::left, triangle::lower, how, diagonal::unit, T{1}, L, C);
  for (index_t j = 0; j < C.cols(); ++j) {
    for (index_t i = L.rows() - 1; i >= 0; --i) std::swap(C(i, j), C(pivots[i], j));
  }
}

template <scalar T>
void eliminate_pair_turned(op how, const_view<T> L, const_view<T> A, const index_t* pivots,
                           matrix_view<T> C1, matrix_view<T> C2) {
  const index_t n = A.cols();
  const index_t inner = std::min(L.rows(), n);
  for (index_t first = (n - 1) / inner * inner; first >= 0; first -= inner) {
    const index_t width = std::min(inner, n - first);
    const matrix_view<T> upper = C1.block(first, 0, width, C1.cols());
    multiply_add_here(T{-1}, strided_of<T>(A.columns(first, width), how),
                      strided_of<T>(C2, op::none), A.rows(), upper);
    trsm_by<this_thread, T>(side::left, triangle::lower, how, diagonal::unit, T{1},
                            L.block(0, first, width, width), upper);
    for (index_t j = 0; j < C1.cols(); ++j) {
      for (index_t i = width - 1; i >= 0; --i) {
        std::swap(upper(i, j), stacked(upper.column(j), width, C2.column(j), pivots[first + i]));
      }
    }
  }
}

#define CREEK_INSTANTIATE(letter, T)                                                          \
  template class packed_block<T>;                                                             \
  template void eliminate_pair<T>(matrix_view<T>, matrix_view<T>, matrix_view<T>, index_t*);  \
  template class packed_elimination<T>;                                                       \
  template void eliminate_block_turned<T>(op, const_view<T>, const index_t*, matrix_view<T>); \
  template void eliminate_pair_turned<T>(op, const_view<T>, const_view<T>, const index_t*,    \
                                         matrix_view<T>, matrix_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail

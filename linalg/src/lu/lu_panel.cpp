// SPDX-License-Identifier: Apache-2.0
// LU of a panel, with and without pivoting: it is halved until it is narrow, so that most of its
// work is products as well. Source: [Toledo 1997].
#include "lu_panel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "blas3/level3.hpp"
#include "kernels/pack_memory.hpp"
#include "kernels/product.hpp"
#include "kernels/triangular.hpp"
#include "kernels/vector_kernels.hpp"
#include "tiles/tile_factors.hpp"

namespace creek::linalg::detail {
namespace {

/// Maximum number of columns that are eliminated one by one.
constexpr index_t narrow = 16;

/// Divides x by the pivot: multiplies by its reciprocal if that is finite.
template <scalar T>
void divide(index_t n, T* x, T pivot) {
  if (std::abs(pivot) >= std::numeric_limits<real<T>>::min()) {
    const T reciprocal = T{1} / pivot;
    for (index_t i = 0; i < n; ++i) x[i] *= reciprocal;
  } else {
    for (index_t i = 0; i < n; ++i) x[i] /= pivot;
  }
}

/// Left-looking, column j: A(j:m, j) -= L(j:m, 0:j) U(0:j, j), pivot, divide. Returns info.
template <scalar T>
index_t factor_narrow(matrix_view<T> A, index_t* pivots) {
  index_t info = 0;
  const index_t m = A.rows();
  const index_t n = A.cols();
  for (index_t j = 0; j < n; ++j) {
    T* const column = A.column(j);
    const index_t known = std::min(j, m);
    for (index_t p = 0; p < known; ++p) {
      subtract(known - p - 1, 1, &A(0, p) + p + 1, A.leading(), column + p, column + p + 1);
    }
    if (j >= m) {
      continue;
    }
    subtract(m - j, j, A.data() + j, A.leading(), column, column + j);
    const index_t at = j + largest(m - j, column + j);
    pivots[j] = at;
    if (column[at] == T{}) {
      if (info == 0) info = j + 1;
      continue;
    }
    if (at != j) {
      for (index_t c = 0; c < n; ++c) std::swap(A(j, c), A(at, c));
    }
    divide(m - j - 1, column + j + 1, column[j]);
  }
  return info;
}

/// C -= L U for a tall L and few columns; U is packed and negated, L is read in place.
template <scalar T>
void multiply_tall(matrix_view<T> L, const real<T>* packed, matrix_view<T> C) {
  const index_t step = blocking<T>::rows();
  const auto& kernels = micro_kernels_of<real<T>>();
  index_t done = 0;
  if constexpr (!is_complex<T>) {
    const index_t strip = packed_right_size<T>(L.cols(), kernels.cols);
    const index_t full_cols = C.cols() / kernels.cols * kernels.cols;
    if (full_cols == C.cols()) {
      for (; done + kernels.rows <= C.rows(); done += kernels.rows) {
        const real<T>* right = packed;
        for (index_t j = 0; j < full_cols; j += kernels.cols, right += strip) {
          kernels.multiply(L.cols(), &L(done, 0), L.leading(), right, &C(done, j), C.leading());
        }
      }
    }
  }
  if (done == C.rows()) return;
  const pack_array<real<T>> left(packed_left_size<T>(std::min(step, C.rows() - done), L.cols()));
  for (; done < C.rows(); done += step) {
    const index_t rows = std::min(step, C.rows() - done);
    const strided<T> l{&L(done, 0), 1, L.leading()};
    pack_left(l, rows, L.cols(), left.data());
    multiply_packed(rows, C.cols(), L.cols(), left.data(), packed, &C(done, 0), C.leading());
  }
}

/// Updates the right half of a panel by its left half: U12 = L11^-1 A12, A22 -= L21 U12.
template <scalar T>
void update_right(matrix_view<T> left, matrix_view<T> right) {
  const index_t n = left.cols();
  const index_t depth = solve_depth<T>(n);
  const pack_array<real<T>> triangle(packed_triangle_size<T>(n));
  const pack_array<real<T>> packed(packed_right_size<T>(depth, right.cols()));
  const strided<T> l{left.data(), 1, left.leading()};
  pack_triangle(l, diagonal::unit, n, triangle.data());
  const strided<T> top{right.data(), 1, right.leading()};
  pack_right(top, n, right.cols(), T{1}, packed.data());
  solve_packed<T>(triangle.data(), n, packed.data(), right.cols());
  unpack_right(packed.data(), n, right.cols(), right.data(), 1, right.leading());
  const index_t below = left.rows() - n;
  if (below == 0) return;
  const index_t reals_of_it = packed_right_size<T>(n, right.cols());
  for (index_t i = 0; i < reals_of_it; ++i) packed.data()[i] = -packed.data()[i];
  multiply_tall(left.block(n, 0, below, n), packed.data(), right.block(n, 0, below, right.cols()));
}

/// Exchanges row i with row pivots[i] for i in [0, count).
template <scalar T>
void exchange_rows(matrix_view<T> A, const index_t* pivots, index_t count) noexcept {
  for (index_t j = 0; j < A.cols(); ++j) {
    T* const column = A.column(j);
    for (index_t i = 0; i < count; ++i) std::swap(column[i], column[pivots[i]]);
  }
}

/// Column j as factor_narrow does it, without pivots. Stops at a zero.
template <scalar T>
index_t eliminate_narrow(matrix_view<T> A) {
  const index_t m = A.rows();
  for (index_t j = 0; j < A.cols(); ++j) {
    T* const column = A.column(j);
    for (index_t p = 0; p < std::min(j, m); ++p) {
      subtract(m - p - 1, 1, A.column(p) + p + 1, A.leading(), column + p, column + p + 1);
    }
    if (j >= m) continue;
    if (column[j] == T{}) return j + 1;
    for (index_t i = j + 1; i < m; ++i) column[i] /= column[j];
  }
  return 0;
}

}  // namespace

template <scalar T>
index_t factor_panel(matrix_view<T> A, index_t* pivots) {
  const index_t n = std::min(A.rows(), A.cols());
  if (n <= narrow) return factor_narrow(A, pivots);
  // A multiple of the triangular kernel's rows, so that packed strips have no padding.
  const index_t half = round_up(n / 2, 8);
  const index_t rest = A.cols() - half;
  const matrix_view<T> left = A.columns(0, half);
  const matrix_view<T> right = A.columns(half, rest);
  index_t info = factor_panel(left, pivots);
  exchange_rows(right, pivots, half);
  update_right(left, right);
  const index_t below = A.rows() - half;
  const index_t later = factor_panel(A.block(half, half, below, rest), pivots + half);
  if (info == 0 && later != 0) info = later + half;
  exchange_rows(A.block(half, 0, below, half), pivots + half, n - half);
  for (index_t i = half; i < n; ++i) pivots[i] += half;
  return info;
}

template <scalar T>
index_t getrf_nopiv_here(matrix_view<T> A) {
  const index_t n = std::min(A.rows(), A.cols());
  if (n <= narrow) return eliminate_narrow(A);
  const index_t half = round_up(n / 2, 8);
  const matrix_view<T> left = A.columns(0, half);
  const matrix_view<T> top = A.block(0, half, half, A.cols() - half);
  const matrix_view<T> rest = A.block(half, half, A.rows() - half, A.cols() - half);
  if (const index_t info = getrf_nopiv_here(left)) return info;
  trsm_by<this_thread, T>(side::left, triangle::lower, op::none, diagonal::unit, T{1},
                          left.block(0, 0, half, half), top);
  const matrix_view<T> below = left.block(half, 0, A.rows() - half, half);
  multiply_add_here(T{-1}, strided_of<T>(below, op::none), strided_of<T>(top, op::none), half,
                    rest);
  const index_t info = getrf_nopiv_here(rest);
  return info == 0 ? 0 : info + half;
}

#define CREEK_INSTANTIATE(letter, T)                          \
  template index_t factor_panel<T>(matrix_view<T>, index_t*); \
  template index_t getrf_nopiv_here<T>(matrix_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail

// SPDX-License-Identifier: Apache-2.0
#include "pair_reflectors.hpp"

#include <algorithm>

#include "kernels/product.hpp"
#include "kernels/vector_kernels.hpp"
#include "reflectors.hpp"

namespace creek::linalg::detail {
namespace {

/// Maximum number of columns that are eliminated one by one.
constexpr index_t single_pair_columns = 8;

template <scalar T>
void factor_pair_columns(matrix_view<T> R, matrix_view<T> A, matrix_view<T> triangle) {
  const index_t m = A.rows();
  for (index_t j = 0; j < A.cols(); ++j) {
    T* const v = A.column(j);
    const T tau = make_reflector(R(j, j), m, v);
    for (index_t c = j + 1; c < A.cols() && tau != T{}; ++c) {
      const T weight = conjugated(tau) * (dot(m, v, A.column(c)) + R(j, c));
      R(j, c) -= weight;
      subtract(m, 1, v, 0, &weight, A.column(c));
    }
    for (index_t i = 0; i < j; ++i) triangle(i, j) = dot(m, A.column(i), v);
    add_to_triangle(triangle, j, tau);
  }
}

/// Factors one group, by halves like factor_reflectors.
template <scalar T>
void factor_pair_group(matrix_view<T> R, matrix_view<T> A, matrix_view<T> triangle) {
  const index_t n = A.cols();
  if (n <= single_pair_columns) return factor_pair_columns(R, A, triangle);
  const index_t half = round_up(n / 2, 8);
  const index_t rest = n - half;
  const matrix_view<T> left = A.columns(0, half);
  const matrix_view<T> right = A.columns(half, rest);
  const matrix_view<T> first = triangle.block(0, 0, half, half);
  factor_pair_group(R.block(0, 0, half, half), left, first);
  packed_pair<T>(lower_block::square, left, first, true).apply(R.block(0, half, half, rest), right);
  factor_pair_group(R.block(half, half, rest, rest), right, triangle.block(half, half, rest, rest));
  matrix<T> overlap(half, rest);
  multiply_add_here(T{1}, strided_of<T>(left, op::conjugate_transpose),
                    strided_of<T>(right, op::none), A.rows(), overlap.view());
  join_triangles(overlap, triangle);
}

/// Copies the elements on and above the diagonal that begins in row `first` of column 0.
template <scalar T>
void copy_trapezoid(const_view<T> from, index_t first, matrix_view<T> to) {
  for (index_t j = 0; j < from.cols(); ++j) {
    std::copy_n(from.column(j), std::min(first + j + 1, from.rows()), to.column(j));
  }
}

/// Returns the columns processed at once: a few strips, so that they stay in the L1 or L2 cache
/// while all groups of reflectors are applied to them.
template <scalar T>
index_t columns_at_a_time() {
  return 4 * micro_kernels_of<real<T>>().cols;
}

}  // namespace

template <scalar T>
void factor_pair(lower_block kind, matrix_view<T> R, matrix_view<T> A, matrix_view<T> triangles) {
  const index_t n = A.cols();
  const index_t inner = triangles.rows();
  for (index_t k = 0; k < n; k += inner) {
    const index_t width = std::min(inner, n - k);
    const bool square = kind == lower_block::square;
    const index_t rows = square ? A.rows() : std::min(A.rows(), k + width);
    const matrix_view<T> panel = A.block(0, k, rows, width);
    // The zeros of a triangle have to be there, but must not be written to A.
    matrix<T> filled;
    if (!square) {
      filled = matrix<T>(rows, width);
      copy_trapezoid<T>(panel, k, filled.view());
    }
    const matrix_view<T> V = square ? panel : filled.view();
    const matrix_view<T> triangle = triangles.block(0, k, width, width);
    factor_pair_group(R.block(k, k, width, width), V, triangle);
    if (!square) copy_trapezoid<T>(V, k, panel);
    const index_t done = k + width;
    if (done == n) break;
    packed_pair<T>(lower_block::square, V, triangle, true)
        .apply(R.block(k, done, width, n - done), A.block(0, done, rows, n - done));
  }
}

template <scalar T>
struct packed_pair<T>::workspace {
  pack_array<real<T>> right;
  pack_array<T> dots, weights;  // inner x columns

  workspace(index_t depth, index_t inner, index_t columns)
      : right(packed_right_size<T>(depth, columns)),
        dots(inner * columns),
        weights(inner * columns) {}
};

template <scalar T>
auto packed_pair<T>::group_at(index_t g) const noexcept -> group {
  const index_t first = g * inner_;
  const index_t width = std::min(inner_, order_ - first);
  return {first, width, kind_ == lower_block::square ? rows_ : std::min(rows_, first + width)};
}

template <scalar T>
packed_pair<T>::packed_pair(lower_block kind, const_view<T> V, const_view<T> triangles, bool turned)
    : kind_(kind),
      turned_(turned),
      rows_(kind == lower_block::square ? V.rows() : std::min(V.rows(), V.cols())),
      order_(V.cols()),
      inner_(std::min(triangles.rows(), order_)),
      v_size_(packed_left_size<T>(rows_, inner_)),
      v_turned_size_(packed_left_size<T>(inner_, rows_)),
      t_size_(packed_left_size<T>(inner_, inner_)),
      v_(groups() * v_size_),
      v_turned_(groups() * v_turned_size_),
      t_(groups() * t_size_) {
  for (index_t g = 0; g < groups(); ++g) {
    const auto [first, width, rows] = group_at(g);
    const const_view<T> block = V.block(0, first, rows, width);
    const const_view<T> triangle = triangles.block(0, first, width, width);
    if (kind_ == lower_block::square) {
      pack(g, block, triangle);
    } else {
      matrix<T> filled(rows, width);
      copy_trapezoid<T>(block, first, filled.view());
      pack(g, filled.view(), triangle);
    }
  }
}

template <scalar T>
void packed_pair<T>::pack(index_t g, const_view<T> V, const_view<T> triangle) {
  const index_t width = V.cols();
  const index_t step = blocking<T>::depth();
  pack_left(strided_of(V, op::none), V.rows(), width, v_.data() + g * v_size_);
  const strided<T> turned = strided_of(V, op::conjugate_transpose);
  for (index_t p = 0; p < V.rows(); p += step) {
    pack_left(turned.block(0, p), width, std::min(step, V.rows() - p),
              v_turned_.data() + g * v_turned_size_ + packed_left_size<T>(width, p));
  }
  strided<T> t = strided_of(triangle, turned_ ? op::conjugate_transpose : op::none);
  t.shape = structure::triangular;
  t.stored_low = turned_;
  pack_left(t, width, width, t_.data() + g * t_size_);
}

template <scalar T>
void packed_pair<T>::apply(matrix_view<T> C1, matrix_view<T> C2) const {
  const index_t columns = std::min(columns_at_a_time<T>(), C1.cols());
  if (columns == 0) return;
  const index_t depth = std::max(inner_, std::min(blocking<T>::depth(), rows_));
  const workspace work(depth, inner_, columns);
  for (index_t j = 0; j < C1.cols(); j += columns) {
    const index_t here = std::min(columns, C1.cols() - j);
    for (index_t s = 0; s < groups(); ++s) {
      const index_t g = turned_ ? s : groups() - 1 - s;
      apply_group(g, C1.columns(j, here), C2.columns(j, here), work);
    }
  }
}

template <scalar T>
void packed_pair<T>::apply_group(index_t g, matrix_view<T> C1, matrix_view<T> C2,
                                 const workspace& work) const {
  const auto [first, width, rows] = group_at(g);
  const index_t cols = C1.cols();
  const matrix_view<T> upper = C1.block(first, 0, width, cols);
  const matrix_view<T> dots(work.dots.data(), width, cols, width);
  const matrix_view<T> weights(work.weights.data(), width, cols, width);
  copy<T>(upper, dots);
  const strided<T> c = strided_of<T>(C2, op::none);
  const real<T>* const turned = v_turned_.data() + g * v_turned_size_;
  for (index_t p = 0; p < rows; p += blocking<T>::depth()) {
    const index_t depth = std::min(blocking<T>::depth(), rows - p);
    pack_right(c.block(p, 0), depth, cols, T{1}, work.right.data());
    multiply_packed(width, cols, depth, turned + packed_left_size<T>(width, p), work.right.data(),
                    dots.data(), width);
  }
  pack_right(strided_of<T>(dots, op::none), width, cols, T{1}, work.right.data());
  std::fill_n(weights.data(), width * cols, T{});
  multiply_packed(width, cols, width, t_.data() + g * t_size_, work.right.data(), weights.data(),
                  width);
  for (index_t j = 0; j < cols; ++j) {
    for (index_t i = 0; i < width; ++i) upper(i, j) -= weights(i, j);
  }
  pack_right(strided_of<T>(weights, op::none), width, cols, T{-1}, work.right.data());
  multiply_packed(rows, cols, width, v_.data() + g * v_size_, work.right.data(), C2.data(),
                  C2.leading());
}

#define CREEK_INSTANTIATE(letter, T)                                                         \
  template void factor_pair<T>(lower_block, matrix_view<T>, matrix_view<T>, matrix_view<T>); \
  template class packed_pair<T>;
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail

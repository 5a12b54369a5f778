// SPDX-License-Identifier: Apache-2.0
#include "tall_reflectors.hpp"

#include <algorithm>
#include <vector>

#include "kernels/product.hpp"
#include "kernels/vector_kernels.hpp"
#include "reflectors.hpp"

namespace creek::linalg::detail {
namespace {

/// Rows that are read at once, with all columns, so that they stay in the second-level cache.
constexpr index_t rows_at_once = 512;
/// Maximum number of groups of rows, each of which has sums of its own.
constexpr index_t max_groups = 64;

/// Calls body(group, first, rows) for pieces of rows. Those of a group run one after the other.
template <class Body>
void for_row_groups(index_t rows, index_t groups, const Body& body) {
  const index_t pieces = (rows + rows_at_once - 1) / rows_at_once;
  all_workers::for_each(groups, [&](index_t g) {
    for (index_t p = pieces * g / groups; p < pieces * (g + 1) / groups; ++p) {
      const index_t first = p * rows_at_once;
      body(g, first, std::min(rows_at_once, rows - first));
    }
  });
}

/// sum += A^H B for a few hundred rows, without packing if the numbers are real.
template <scalar T>
void add_projections(const_view<T> A, const_view<T> B, matrix_view<T> sum) {
  if constexpr (is_complex<T>) {
    multiply_add_here(T{1}, strided_of<T>(A, op::conjugate_transpose), strided_of<T>(B, op::none),
                      A.rows(), sum);
  } else {
    matrix<T> dots(A.cols(), B.cols());
    vector_kernels_of<T>().project_columns(A.rows(), A.cols(), A.data(), A.leading(), B.cols(),
                                           B.data(), B.leading(), dots.data(), dots.leading());
    for (index_t j = 0; j < B.cols(); ++j) {
      for (index_t i = 0; i < A.cols(); ++i) sum(i, j) += dots(i, j);
    }
  }
}

/// Returns A^H B.
template <scalar T>
matrix<T> projections(const_view<T> A, const_view<T> B) {
  const index_t rows = A.rows(), cols = B.cols();
  const index_t groups =
      std::clamp<index_t>((rows + rows_at_once - 1) / rows_at_once, 1, max_groups);
  matrix<T> sums(A.cols(), cols * groups);
  for_row_groups(rows, groups, [&](index_t g, index_t first, index_t count) {
    add_projections<T>(A.block(first, 0, count, A.cols()), B.block(first, 0, count, cols),
                       sums.view().columns(g * cols, cols));
  });
  matrix<T> total(A.cols(), cols);
  for (index_t g = 0; g < groups; ++g) {
    for (index_t j = 0; j < cols; ++j) {
      for (index_t i = 0; i < A.cols(); ++i) total(i, j) += sums(i, g * cols + j);
    }
  }
  return total;
}

}  // namespace

template <scalar T>
void form_tall_triangle(const_view<T> V, const T* tau, matrix_view<T> triangle) {
  const index_t n = V.cols();
  const const_view<T> lower = V.block(n, 0, V.rows() - n, n);
  const matrix<T> top = unit_triangle(V);
  matrix<T> dots = projections<T>(lower, lower);
  multiply_add_here(T{1}, strided_of<T>(top.view(), op::conjugate_transpose),
                    strided_of<T>(top.view(), op::none), n, dots.view());
  for (index_t j = 0; j < n; ++j) {
    std::copy_n(&dots(0, j), j, triangle.column(j));
    add_to_triangle(triangle, j, tau[j]);
  }
}

template <scalar T>
void apply_tall(const_view<T> V, const_view<T> triangle, bool turned, matrix_view<T> C) {
  const index_t n = V.cols(), below = V.rows() - n;
  if (C.cols() == 0) return;
  const const_view<T> lower = V.block(n, 0, below, n);
  const matrix_view<T> rest = C.block(n, 0, below, C.cols());
  const matrix_view<T> first = C.block(0, 0, n, C.cols());
  const matrix<T> top = unit_triangle(V);
  matrix<T> dots = projections<T>(lower, rest);
  multiply_add_here(T{1}, strided_of<T>(top.view(), op::conjugate_transpose),
                    strided_of<T>(first, op::none), n, dots.view());
  strided<T> t = strided_of<T>(triangle, turned ? op::conjugate_transpose : op::none);
  t.shape = structure::triangular;
  t.stored_low = turned;
  matrix<T> weights(n, C.cols());
  multiply_add_here(T{1}, t, strided_of<T>(dots.view(), op::none), n, weights.view());
  const auto subtract_rows = [&](const_view<T> rows, matrix_view<T> from) {
    multiply_add_here(T{-1}, strided_of<T>(rows, op::none), strided_of<T>(weights.view(), op::none),
                      n, from);
  };
  subtract_rows(top.view(), first);
  for_row_groups(below, max_groups, [&](index_t, index_t row, index_t count) {
    subtract_rows(lower.block(row, 0, count, n), rest.block(row, 0, count, C.cols()));
  });
}

#define CREEK_INSTANTIATE(letter, T)                                            \
  template void form_tall_triangle<T>(const_view<T>, const T*, matrix_view<T>); \
  template void apply_tall<T>(const_view<T>, const_view<T>, bool, matrix_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail

// SPDX-License-Identifier: Apache-2.0
// LU without pivoting of one tile: by halves, like the pivoting one.
#include <algorithm>

#include "blas3/level3.hpp"
#include "kernels/product.hpp"
#include "kernels/vector_kernels.hpp"
#include "tiles/tile_factors.hpp"

namespace creek::linalg::detail {
namespace {

/// Maximum number of columns that are eliminated one by one.
constexpr index_t few_columns = 16;

template <scalar T>
index_t eliminate_columns(matrix_view<T> A) {
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
index_t getrf_nopiv_here(matrix_view<T> A) {
  const index_t n = std::min(A.rows(), A.cols());
  if (n <= few_columns) return eliminate_columns(A);
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

#define CREEK_INSTANTIATE(letter, T) template index_t getrf_nopiv_here<T>(matrix_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail

// SPDX-License-Identifier: Apache-2.0
// The shapes of C = alpha op(A) op(B) + beta C, as gemm's arguments give them.
#pragma once

#include <utility>

#include "arguments.hpp"

namespace creek::lapack {
inline namespace CREEK_LAPACK_WIDTH {

/// By columns: a product by rows is that of the transposes, in the other order.
struct product_shape {
  op how_a{}, how_b{};
  blas_int m = 0, n = 0, k = 0, lda = 1, ldb = 1, ldc = 1;
  bool is_exchanged = false;  ///< A and B are, with all that belongs to them

  /// Returns the first bad argument's position in gemm's list, or 0.
  int read(layout order, char letter_a, char letter_b, blas_int rows, blas_int cols, blas_int depth,
           blas_int leading_a, blas_int leading_b, blas_int leading_c) {
    const auto op_a = parse_op(letter_a), op_b = parse_op(letter_b);
    if (!op_a) return 1;
    if (!op_b) return 2;
    if (rows < 0) return 3;
    if (cols < 0) return 4;
    if (depth < 0) return 5;
    const bool plain_a = *op_a == op::none, plain_b = *op_b == op::none;
    if (!holds(leading_a, plain_a ? rows : depth, plain_a ? depth : rows, order)) return 8;
    if (!holds(leading_b, plain_b ? depth : cols, plain_b ? cols : depth, order)) return 10;
    if (!holds(leading_c, rows, cols, order)) return 13;
    *this = {
        *op_a, *op_b, rows, cols, depth, leading_a, leading_b, leading_c, order == layout::rows};
    if (is_exchanged) {
      std::swap(how_a, how_b);
      std::swap(m, n);
      std::swap(lda, ldb);
    }
    return 0;
  }
  bool is_empty() const noexcept { return m == 0 || n == 0; }
  index_t rows_a() const noexcept { return how_a == op::none ? m : k; }
  index_t cols_a() const noexcept { return how_a == op::none ? k : m; }
  index_t rows_b() const noexcept { return how_b == op::none ? k : n; }
  index_t cols_b() const noexcept { return how_b == op::none ? n : k; }
  double flops() const noexcept { return 2.0 * m * n * k; }
};

}  // namespace CREEK_LAPACK_WIDTH
}  // namespace creek::lapack

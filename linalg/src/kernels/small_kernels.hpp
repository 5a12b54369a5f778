// SPDX-License-Identifier: Apache-2.0
// Whole operations on matrices that are so small that packing, memory and tasks would cost more
// than they gain. All work in place, in the calling thread; one set per instruction set, chosen at
// run time. Columns are `step` elements apart.
#pragma once

#include <creek/linalg/matrix.hpp>

#include "kernel_sets.hpp"

namespace creek::linalg::detail {

/// Maximum order of a matrix that is factored or solved with by these.
inline constexpr index_t max_small_order = 32;

/// Returns whether small_kernels factor a matrix of this shape.
template <scalar T>
constexpr bool is_small(index_t rows, index_t cols) noexcept {
  return !is_complex<T> && rows <= max_small_order && cols <= max_small_order;
}

/// R is float or double.
template <class R>
struct small_kernels {
  /// C = alpha A B + beta C, where A is m x k and m, n > 0. Element (p, j) of B is
  /// b[p * b_row + j * b_col]. Does not read C if beta is 0.
  void (*multiply)(index_t m, index_t n, index_t k, R alpha, const R* a, index_t a_step, const R* b,
                   index_t b_row, index_t b_col, R beta, R* c, index_t c_step);
  /// P A = L U with partial pivoting, A is m x n. Returns info, as linalg::getrf.
  index_t (*lu)(index_t m, index_t n, R* a, index_t step, index_t* pivots);
  /// A = L L^T for the lower triangle of order n. Returns info, as linalg::potrf.
  index_t (*cholesky)(index_t n, R* a, index_t step);
  /// B = L^-1 B for the lower triangle of order n, with ones on its diagonal.
  void (*solve_unit_lower)(index_t n, const R* a, index_t step, index_t columns, R* b,
                           index_t b_step);
  /// B = U^-1 B for the upper triangle of order n.
  void (*solve_upper)(index_t n, const R* a, index_t step, index_t columns, R* b, index_t b_step);
};

/// Returns the kernels for the current processor.
CREEK_DECLARE_KERNELS(small_kernels)

}  // namespace creek::linalg::detail

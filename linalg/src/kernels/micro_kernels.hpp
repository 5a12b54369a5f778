// SPDX-License-Identifier: Apache-2.0
// Innermost loops of dense linear algebra, the micro-kernels of BLIS, one set per instruction set,
// chosen at run time.
//
// All kernels work on real numbers, for complex matrices too: a complex product is a real one of
// twice the rows and depth, [re -im; im re] times [re; im], whose result is the complex matrix in
// its memory layout.
// Source: the 1m method [Van Zee 2020].
//
// Packed operands, as in BLIS: the left one in strips of `rows` rows, each strip column by column;
// the right one in strips of `cols` columns, each strip row by row. The last strip is padded with
// zeros.
// Source: [Van Zee 2015].
#pragma once

#include <creek/linalg/matrix.hpp>

#include "kernel_sets.hpp"

namespace creek::linalg::detail {

/// Rows per strip of a triangle packed for micro_kernels::solve; complex ones have half as many.
inline constexpr index_t solve_rows = 8;

/// R is float or double.
template <class R>
struct micro_kernels {
  const char* name;  // name of the instruction set
  index_t rows;      // rows and columns of a micro-tile, the block of the result in registers
  index_t cols;

  /// c (rows x cols, columns `leading` apart) += a * b over depth k. Column p of the strip a is at
  /// a + p * a_step: `rows` apart where packed, a leading dimension apart where not.
  void (*multiply)(index_t k, const R* a, index_t a_step, const R* b, R* c, index_t leading);

  /// Like multiply, with b in place in memory, its columns `b_step` apart.
  void (*multiply_columns)(index_t k, const R* a, index_t a_step, const R* b, index_t b_step, R* c,
                           index_t leading);

  /// Like multiply, but updates only `used_rows` x `used_cols` of c.
  void (*multiply_edge)(index_t k, const R* a, index_t a_step, const R* b, index_t used_rows,
                        index_t used_cols, R* c, index_t leading);

  /// Solves L x = b in place for one strip b of k rows, packed. `l` holds the lower triangle in
  /// strips of solve_rows rows, column after column, each strip up to the end of its diagonal
  /// block, and the reciprocals of the diagonal. k is a multiple of solve_rows.
  void (*solve)(index_t k, const R* l, R* b);

  /// Like solve, for complex numbers: b has k rows, alternately real and imaginary parts; strips of
  /// l have solve_rows / 2 rows, real and imaginary parts side by side.
  void (*solve_complex)(index_t k, const R* l, R* b);

  /// Copies columns of `rows` (at most micro_kernels::rows) elements, `from_step` apart, to columns
  /// that are `micro_kernels::rows` apart, padded with zeros.
  void (*copy_strip)(index_t rows, index_t cols, const R* from, index_t from_step, R* to);

  /// Interleaves `k` elements of `across` (at most `width`) vectors, `across_step` apart, each
  /// contiguous: element p of vector v goes to to[p * width + v].
  void (*interleave)(index_t width, index_t across, index_t k, const R* from, index_t across_step,
                     R* to);
};

/// Returns the kernels for the current processor.
CREEK_DECLARE_KERNELS(micro_kernels)

}  // namespace creek::linalg::detail

// SPDX-License-Identifier: Apache-2.0
// Innermost loops of the singular value decomposition of small matrices, one set per instruction
// set, chosen at run time.
#pragma once

#include <creek/linalg/matrix.hpp>

#include "kernels/kernel_sets.hpp"

namespace creek::linalg::detail {

/// R is float or double.
template <class R>
struct svd_kernels {
  /// y[j] = sum over i of a[i, j] * x[i], for columns of `rows` elements, `step` apart. The kernels
  /// of the same names in micro_kernels.hpp are for complex numbers too, but slow for few rows.
  void (*project)(index_t rows, index_t cols, const R* a, index_t step, const R* x, R* y);

  /// y -= a * x.
  void (*subtract)(index_t rows, index_t cols, const R* a, index_t step, const R* x, R* y);

  /// A -= x y^T for a matrix of rows x cols elements.
  void (*subtract_outer)(index_t rows, index_t cols, const R* x, const R* y, R* a, index_t step);
};

/// Loops over the poles d[j] of a secular equation for the number s = pole + offset, where d[j]^2 -
/// s^2 is computed as ((d[j] - pole) - offset) ((d[j] + pole) + offset).
struct secular_kernels {
  /// Adds square[j] / (d[j]^2 - s^2) to value and the derivative by s^2 to slope.
  void (*add)(index_t n, const double* d, const double* square, double pole, double offset,
              double* value, double* slope);

  /// v[j] = z[j] / (d[j]^2 - s^2). Returns the sum of squares.
  double (*right_vector)(index_t n, const double* d, const double* z, double pole, double offset,
                         double* v);

  /// v[j] = d[j] z[j] / (d[j]^2 - s^2). Returns the sum of squares.
  double (*left_vector)(index_t n, const double* d, const double* z, double pole, double offset,
                        double* v);
};

/// Returns the kernels for the current processor.
const secular_kernels& secular_kernels_here() noexcept;
CREEK_DECLARE_KERNELS(svd_kernels)

}  // namespace creek::linalg::detail

// SPDX-License-Identifier: Apache-2.0
// Reflectors of three elements applied to long rows or columns, one set of loops per instruction
// set.
#pragma once

#include <creek/linalg/matrix.hpp>

#include "kernels/kernel_sets.hpp"

namespace creek::linalg::detail {

/// For vectors x0, x1, x2: s = x0 + v[0] x1 + v[1] x2, then xi -= s t[i]. R is float or double; the
/// complex ones have sizes and steps in complex numbers.
template <class R>
struct reflector_kernels {
  /// The vectors are three columns of n contiguous elements.
  void (*columns)(index_t n, R* x0, R* x1, R* x2, const R* v, const R* t);
  void (*columns_complex)(index_t n, R* x0, R* x1, R* x2, const R* v, const R* t);
  /// The vectors are three adjacent rows of n elements, `step` apart.
  void (*rows)(index_t n, R* x, index_t step, const R* v, const R* t);
  void (*rows_complex)(index_t n, R* x, index_t step, const R* v, const R* t);
};

/// Returns the kernels for the current processor.
CREEK_DECLARE_KERNELS(reflector_kernels)

}  // namespace creek::linalg::detail

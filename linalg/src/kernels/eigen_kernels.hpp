// SPDX-License-Identifier: Apache-2.0
// Innermost loops of eigenvalue problems, one set per instruction set, chosen at run time.
#pragma once

#include <creek/linalg/matrix.hpp>

#include "kernel_sets.hpp"

namespace creek::linalg::detail {

/// Part of a secular function: its terms z_i^2 / (d_i - lambda).
template <class R>
struct secular_terms {
  R sum;         ///< of the terms
  R derivative;  ///< of the sum
  R weighted;    ///< sum of the terms, each times its weight
};

/// R is float or double.
template <class R>
struct eigen_kernels {
  /// y += A u and v = A^H x in one pass over A, n rows and k columns, `step` apart. Sizes of the
  /// complex one are in complex numbers.
  void (*multiply_both)(index_t n, index_t k, const R* a, index_t step, const R* x, R* y,
                        const R* u, R* v);
  void (*multiply_both_complex)(index_t n, index_t k, const R* a, index_t step, const R* x, R* y,
                                const R* u, R* v);

  /// Applies `count` plane rotations one after the other, each to the columns x = z + p * step and
  /// y = z + (p + 1) * step, of `rows` elements: (x, y) = (c x + s y, c y - s x).
  void (*rotate)(index_t rows, index_t count, const R* c, const R* s, R* z, index_t step);

  /// Returns the terms i of [0, n) for lambda = origin + shift. The weight of term i is
  /// `weight` + i * weight_step.
  secular_terms<R> (*secular_sums)(index_t n, const R* d, const R* z, R origin, R shift, R weight,
                                   R weight_step);

  /// to[i] = (d[i] - origin) - shift.
  void (*differences)(index_t n, const R* d, R origin, R shift, R* to);

  /// w[i] *= delta[i] / (d[i] - pole).
  void (*multiply_ratios)(index_t n, const R* delta, const R* d, R pole, R* w);

  /// to[i] = w[i] / delta[i]; returns the sum of squares.
  R (*quotients)(index_t n, const R* w, const R* delta, R* to);
};

/// Returns the kernels for the current processor.
CREEK_DECLARE_KERNELS(eigen_kernels)

}  // namespace creek::linalg::detail

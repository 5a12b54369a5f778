// SPDX-License-Identifier: Apache-2.0
// Norm estimate of a matrix that can be applied but has no explicit elements, such as an inverse.
#pragma once

#include <functional>

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// Function that does X = A X (op::none) or A^H X (op::conjugate_transpose), X of a few columns.
template <scalar T>
using linear_map = std::function<void(op, matrix_view<T>)>;

/// Returns a lower estimate of the one-norm of an n x n matrix A; seldom off by a factor of 3, and
/// exact up to n = 4. Applies A at most ten times, to four columns each, the same ones at every
/// call. Infinite or NaN as soon as A X is.
/// Source:
/// [Higham 2000], algorithm 2.4 with t = 4.
/// LAPACK's xLACN2 is the algorithm with t = 1.
template <scalar T>
double estimate_one_norm(index_t n, const linear_map<T>& A);

}  // namespace creek::linalg::detail

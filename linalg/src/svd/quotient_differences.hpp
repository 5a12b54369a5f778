// SPDX-License-Identifier: Apache-2.0
// Singular values of a bidiagonal matrix without vectors, without square roots on the way.
#pragma once

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// Replaces the diagonal d[0, n) of an upper bidiagonal matrix by its singular values in decreasing
/// order, by differential quotient-difference transforms with shifts (dqds). Returns false, and
/// leaves d as it was, if they do not converge.
/// Source: [Fernando 1994]; shifts as in LAPACK's lasq4 [Parlett 2000].
template <class R>
[[nodiscard]] bool quotient_difference_values(index_t n, R* d, const R* e);

}  // namespace creek::linalg::detail

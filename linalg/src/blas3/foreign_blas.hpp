// SPDX-License-Identifier: Apache-2.0
// Products by another library, named by CREEK_BLAS.
#pragma once

#include <algorithm>

#include <creek/linalg/matrix.hpp>

#include "kernels/packing.hpp"

namespace creek::linalg::detail {

/// Returns whether a library is named and its xGEMM can do c += a b: not for operands with
/// structure, conjugated without transposition, or with a stride in both directions. The answer for
/// a product holds for its blocks. Throws usage_error if the named library cannot be used.
template <scalar T>
bool is_done_elsewhere(const strided<T>& a, const strided<T>& b, index_t depth,
                       const matrix_view<T>& c);

/// c += alpha a b by that library, in the calling thread.
template <scalar T>
void multiply_add_elsewhere(T alpha, const strided<T>& a, const strided<T>& b, index_t depth,
                            matrix_view<T> c);

/// The same, with c cut into one strip per worker (see product.hpp).
template <class Workers, scalar T>
void multiply_add_elsewhere_by(T alpha, const strided<T>& a, const strided<T>& b, index_t depth,
                               matrix_view<T> c) {
  const bool wide = c.cols() >= c.rows();
  const index_t total = wide ? c.cols() : c.rows();
  const index_t strip = round_up((total + Workers::count() - 1) / Workers::count(), 8);
  Workers::for_each((total + strip - 1) / strip, [&](index_t piece) {
    const index_t first = piece * strip;
    const index_t count = std::min(strip, total - first);
    if (wide) {
      multiply_add_elsewhere(alpha, a, b.block(0, first), depth, c.columns(first, count));
    } else {
      multiply_add_elsewhere(alpha, a.block(first, 0), b, depth,
                             c.block(first, 0, count, c.cols()));
    }
  });
}

}  // namespace creek::linalg::detail

// SPDX-License-Identifier: Apache-2.0
// Products by another library, which CREEK_BLAS names.
#pragma once

#include <algorithm>

#include <creek/linalg/matrix.hpp>

#include "packing.hpp"

namespace creek::linalg::detail {

/// Whether a library is named and its xGEMM takes such operands of c += a b: not those with
/// structure, conjugated and not transposed, or with a stride in both directions. What holds for a
/// product holds for its blocks. Throws usage_error if the library that is named cannot be used.
template <scalar T>
bool is_done_elsewhere(const strided<T>& a, const strided<T>& b, index_t depth,
                       const matrix_view<T>& c);

/// c += alpha a b by that library, in this thread.
template <scalar T>
void multiply_add_elsewhere(T alpha, const strided<T>& a, const strided<T>& b, index_t depth,
                            matrix_view<T> c);

/// The same, c being cut into a strip for each of the workers (see product.hpp).
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

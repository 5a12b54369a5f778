// SPDX-License-Identifier: Apache-2.0
// Eigenvalues and eigenvectors of real symmetric tridiagonal matrices with diagonal d and
// off-diagonal e, whose elements are finite and at most about 1. Results `info` are 0, or the
// number of off-diagonal elements that did not converge to zero.
#pragma once

#include <algorithm>

#include <creek/linalg/matrix.hpp>

#include "kernels/rotated_columns.hpp"

namespace creek::linalg::detail {

/// A tridiagonal matrix: d has n elements, e has n - 1.
template <class R>
struct tridiagonal {
  index_t n;
  R* d;
  R* e;

  tridiagonal part(index_t first, index_t count) const noexcept {
    return {count, d + first, e + first};
  }
};

/// Implicit QL and QR: d becomes the eigenvalues, unsorted, e is destroyed, and Z becomes Z times
/// the eigenvectors, in the order of d. `scratch` has 2 n elements. One thread.
/// Source: LAPACK's steqr.
template <class R>
[[nodiscard]] index_t implicit_ql(const tridiagonal<R>& t, const rotated_columns<R>& Z,
                                  R* scratch) noexcept;

/// The QL iteration without square roots: d becomes the eigenvalues in ascending order.
/// Source: Pal, Walker and Kahan's variant in LAPACK's sterf.
template <class R>
[[nodiscard]] index_t root_free_ql(const tridiagonal<R>& t) noexcept;

/// Largest matrix whose vectors are found by QL, in place and without further memory.
inline constexpr index_t small_eigen = 32;

/// Sorts eigenvalues and columns by exchanges of pairs, as few as possible.
template <scalar T>
void sort_pairs(real<T>* w, matrix_view<T> Z) noexcept {
  const index_t n = Z.cols();
  for (index_t i = 0; i + 1 < n; ++i) {
    const index_t k = std::min_element(w + i, w + n) - w;
    if (k == i) continue;
    std::swap(w[i], w[k]);
    std::swap_ranges(Z.column(i), Z.column(i) + Z.rows(), Z.column(k));
  }
}

}  // namespace creek::linalg::detail

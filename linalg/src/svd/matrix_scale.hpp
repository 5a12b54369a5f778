// SPDX-License-Identifier: Apache-2.0
// Scaling of matrices whose elements are so small or large that their products would underflow or
// overflow.
#pragma once

#include <cmath>
#include <limits>

#include "accuracy/magnitudes.hpp"
#include "kernels/product.hpp"
#include "kernels/vector_kernels.hpp"

namespace creek::linalg::detail {

/// Returns the larger part (re or im) of the largest element; NaN if there is one.
template <scalar T>
real<T> largest_part_of(const_view<T> A) {
  double most = 0;
  for (index_t j = 0; j < A.cols() && A.rows() > 0; ++j) {
    const T x = A(largest(A.rows(), A.column(j)), j);
    most = greater(most, greater(std::abs(std::real(x)), std::abs(std::imag(x))));
  }
  return static_cast<real<T>>(most);
}

/// Factor to / from, which brings the largest element into the range of LAPACK's gesdd.
template <class R>
struct matrix_scale {
  R from = 1;
  R to = 1;

  static matrix_scale of(R most) noexcept {
    using limits = std::numeric_limits<R>;
    static const R least = std::sqrt(limits::min()) / (limits::epsilon() / 2);
    if (most > 0 && most < least) return {most, least};
    if (most > 1 / least && !std::isinf(most)) return {most, 1 / least};
    return {};
  }
  bool is_needed() const noexcept { return from != to; }
  template <scalar T>
  void apply(matrix_view<T> A) const {
    if (is_needed()) scale(T{to / from}, A);
  }
  template <scalar T>
  void undo(matrix_view<T> A) const {
    if (is_needed()) scale(T{from / to}, A);
  }
  void undo(index_t n, R* s) const noexcept {
    for (index_t i = 0; i < n && is_needed(); ++i) s[i] *= from / to;
  }
};

}  // namespace creek::linalg::detail

// SPDX-License-Identifier: Apache-2.0
// Scaling of matrices whose elements are so small or large that sums of products of them would
// underflow or overflow.
#pragma once

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "accuracy/magnitudes.hpp"
#include "blas3/workers.hpp"
#include "kernels/product.hpp"
#include "kernels/vector_kernels.hpp"

namespace creek::linalg::detail {

/// Returns the larger part (re or im) of the largest element, which unlike a complex magnitude
/// cannot overflow. NaN if there is one.
template <scalar T>
real<T> largest_part(const_view<T> A) {
  constexpr index_t rows_worth_workers = 8192;
  if (A.empty()) return 0;
  std::vector<double> most(static_cast<std::size_t>(A.cols()));
  const auto look = [&](index_t j) {
    const T x = A(largest(A.rows(), A.column(j)), j);
    most[static_cast<std::size_t>(j)] = greater(std::abs(std::real(x)), std::abs(std::imag(x)));
  };
  if (A.rows() < rows_worth_workers) {
    this_thread::for_each(A.cols(), look);
  } else {
    all_workers::for_each(A.cols(), look);
  }
  return static_cast<real<T>>(std::accumulate(most.begin(), most.end(), 0.0, greater));
}

/// Factor to / from, by which a matrix is multiplied without overflow or underflow.
template <class R>
struct matrix_scale {
  R from = 1;
  R to = 1;

  /// Both return the scaling of a matrix with that largest element: into the range of LAPACK's
  /// gels, and into that of gesdd, where squares are in range, too.
  static matrix_scale of_gels(R most) noexcept {
    return into(std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon(), most);
  }
  static matrix_scale of_gesdd(R most) noexcept {
    static const R least =
        std::sqrt(std::numeric_limits<R>::min()) / (std::numeric_limits<R>::epsilon() / 2);
    return into(least, most);
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

 private:
  static matrix_scale into(R least, R most) noexcept {
    if (most > 0 && most < least) return {most, least};
    if (most > 1 / least && !std::isinf(most)) return {most, 1 / least};
    return {};
  }
};

}  // namespace creek::linalg::detail

// SPDX-License-Identifier: Apache-2.0
// The tile kernels on vectors, by the type of the elements.
#pragma once

#include <creek/linalg/matrix.hpp>

#include "tile.hpp"

namespace creek::linalg::detail {

template <scalar T>
T conjugated(T x) noexcept {
  if constexpr (is_complex<T>) return std::conj(x);
  return x;
}

/// y -= a * x for n rows and k columns of a, `step` apart.
template <scalar T>
void subtract(index_t n, index_t k, const T* a, index_t step, const T* x, T* y) noexcept {
  using R = real<T>;
  const auto& kernels = tile<R>();
  (is_complex<T> ? kernels.subtract_complex : kernels.subtract)(n, k, reinterpret_cast<const R*>(a),
                                                                step, reinterpret_cast<const R*>(x),
                                                                reinterpret_cast<R*>(y));
}

/// y[p] = the sum of conj(a[i, p]) * x[i] over n rows, for k columns of a, `step` apart.
template <scalar T>
void project(index_t n, index_t k, const T* a, index_t step, const T* x, T* y) noexcept {
  using R = real<T>;
  const auto& kernels = tile<R>();
  (is_complex<T> ? kernels.project_complex : kernels.project)(n, k, reinterpret_cast<const R*>(a),
                                                              step, reinterpret_cast<const R*>(x),
                                                              reinterpret_cast<R*>(y));
}

/// The sum of conj(a[i]) * x[i].
template <scalar T>
T dot(index_t n, const T* a, const T* x) noexcept {
  T sum{};
  project(n, 1, a, 0, x, &sum);
  return sum;
}

/// The place of the first element of largest magnitude, of complex ones |re| + |im|; n > 0.
template <scalar T>
index_t largest(index_t n, const T* x) noexcept {
  using R = real<T>;
  const auto& kernels = tile<R>();
  return (is_complex<T> ? kernels.largest_complex : kernels.largest)(n,
                                                                     reinterpret_cast<const R*>(x));
}

/// The place of the first zero on the diagonal, from 1, or 0.
template <scalar T>
index_t zero_on_diagonal(const_view<T> A) noexcept {
  const index_t n = A.rows() < A.cols() ? A.rows() : A.cols();
  for (index_t i = 0; i < n; ++i) {
    if (A(i, i) == T{}) return i + 1;
  }
  return 0;
}

}  // namespace creek::linalg::detail

// SPDX-License-Identifier: Apache-2.0
// Micro-kernels for vectors, selected by the type of the elements.
#pragma once

#include <creek/linalg/matrix.hpp>

#include "micro_kernels.hpp"

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
  const auto& kernels = micro_kernels_of<R>();
  (is_complex<T> ? kernels.subtract_complex : kernels.subtract)(n, k, reinterpret_cast<const R*>(a),
                                                                step, reinterpret_cast<const R*>(x),
                                                                reinterpret_cast<R*>(y));
}

/// y[p] = sum over i of conj(a[i, p]) * x[i], for n rows and k columns of a, `step` apart.
template <scalar T>
void project(index_t n, index_t k, const T* a, index_t step, const T* x, T* y) noexcept {
  using R = real<T>;
  const auto& kernels = micro_kernels_of<R>();
  (is_complex<T> ? kernels.project_complex : kernels.project)(n, k, reinterpret_cast<const R*>(a),
                                                              step, reinterpret_cast<const R*>(x),
                                                              reinterpret_cast<R*>(y));
}

/// Returns the sum over i of conj(a[i]) * x[i].
template <scalar T>
T dot(index_t n, const T* a, const T* x) noexcept {
  T sum{};
  project(n, 1, a, 0, x, &sum);
  return sum;
}

/// Returns the index of the first element of largest magnitude (complex: |re| + |im|); n > 0.
template <scalar T>
index_t largest(index_t n, const T* x) noexcept {
  using R = real<T>;
  const auto& kernels = micro_kernels_of<R>();
  return (is_complex<T> ? kernels.largest_complex : kernels.largest)(n,
                                                                     reinterpret_cast<const R*>(x));
}

/// Returns the 1-based index of the first zero on the diagonal, or 0.
template <scalar T>
index_t zero_on_diagonal(const_view<T> A) noexcept {
  const index_t n = A.rows() < A.cols() ? A.rows() : A.cols();
  for (index_t i = 0; i < n; ++i) {
    if (A(i, i) == T{}) return i + 1;
  }
  return 0;
}

}  // namespace creek::linalg::detail

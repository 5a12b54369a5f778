// SPDX-License-Identifier: Apache-2.0
// Innermost loops over vectors: one set per instruction set, chosen at run time, and functions that
// select one by the type of the elements.
#pragma once

#include <creek/linalg/matrix.hpp>

#include "kernel_sets.hpp"

namespace creek::linalg::detail {

/// R is float or double.
template <class R>
struct vector_kernels {
  /// y -= a * x for n rows and k columns of a, `step` apart; n and k may be 0. Sizes and steps of
  /// the complex one are in complex numbers.
  void (*subtract)(index_t n, index_t k, const R* a, index_t step, const R* x, R* y);
  void (*subtract_complex)(index_t n, index_t k, const R* a, index_t step, const R* x, R* y);

  /// y[p] = sum over i of conj(a[i, p]) * x[i], for n rows and k columns of a, `step` apart.
  void (*project)(index_t n, index_t k, const R* a, index_t step, const R* x, R* y);
  void (*project_complex)(index_t n, index_t k, const R* a, index_t step, const R* x, R* y);

  /// y(p, c) = sum over i of a[i, p] * x[i, c], for n rows, k columns of a and `cols` of x.
  void (*project_columns)(index_t n, index_t k, const R* a, index_t a_step, index_t cols,
                          const R* x, index_t x_step, R* y, index_t y_step);

  /// One step of Householder's elimination in a narrow block, in one pass over n rows: v *= factor,
  /// then each of the `right` < 8 columns y after v, `step` apart, becomes y - weight v, and its
  /// product with the first of them is stored in `dots`.
  void (*reflect)(index_t n, index_t right, R factor, R* v, index_t step, const R* weights,
                  R* dots);

  /// One step of Gauss' elimination in a narrow block, in one pass over n > 0 rows: the last of the
  /// k in [1, 8) columns of a, `step` apart, is multiplied by `factor`, then y -= a * x. Returns
  /// largest(n, y).
  index_t (*eliminate)(index_t n, index_t k, R factor, R* a, index_t step, const R* x, R* y);

  /// Returns the index of the first element of largest magnitude, n > 0; NaN exceeds all.
  index_t (*largest)(index_t n, const R* x);
  /// Like largest, for complex numbers, by |re| + |im| as in LAPACK.
  index_t (*largest_complex)(index_t n, const R* x);
};

/// Returns the kernels for the current processor.
CREEK_DECLARE_KERNELS(vector_kernels)

template <scalar T>
T conjugated(T x) noexcept {
  if constexpr (is_complex<T>) return std::conj(x);
  return x;
}

/// Product without the special cases of C's complex multiplication.
template <scalar T>
T times(T a, T b) noexcept {
  if constexpr (is_complex<T>) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else {
    return a * b;
  }
}

/// y -= a * x for n rows and k columns of a, `step` apart.
template <scalar T>
void subtract(index_t n, index_t k, const T* a, index_t step, const T* x, T* y) noexcept {
  using R = real<T>;
  const auto& kernels = vector_kernels_of<R>();
  (is_complex<T> ? kernels.subtract_complex : kernels.subtract)(n, k, reinterpret_cast<const R*>(a),
                                                                step, reinterpret_cast<const R*>(x),
                                                                reinterpret_cast<R*>(y));
}

/// y[p] = sum over i of conj(a[i, p]) * x[i], for n rows and k columns of a, `step` apart.
template <scalar T>
void project(index_t n, index_t k, const T* a, index_t step, const T* x, T* y) noexcept {
  using R = real<T>;
  const auto& kernels = vector_kernels_of<R>();
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
  const auto& kernels = vector_kernels_of<R>();
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

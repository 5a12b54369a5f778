// SPDX-License-Identifier: Apache-2.0
// Plain products of a matrix, or a triangle of one, with a vector kept in double. For checks: they
// share no code with the kernels under test.
#pragma once

#include <creek/linalg/matrix.hpp>
#include <utility>
#include <vector>

#include "magnitudes.hpp"

namespace creek::linalg::detail {

template <scalar T>
using wide_vector = std::vector<wide<T>>;

/// Region of a matrix that is read; the rest counts as zero.
enum class region { all, lower, upper, strictly_lower, strictly_upper };

inline region outside_diagonal(triangle stored) noexcept {
  return stored == triangle::lower ? region::strictly_lower : region::strictly_upper;
}

/// Returns the rows [first, second) of column j that lie in that region.
inline std::pair<index_t, index_t> rows_in(region which, index_t rows, index_t j) noexcept {
  switch (which) {
    case region::all:
      return {0, rows};
    case region::lower:
      return {std::min(j, rows), rows};
    case region::strictly_lower:
      return {std::min(j + 1, rows), rows};
    case region::upper:
      return {0, std::min(j + 1, rows)};
    case region::strictly_upper:
      break;
  }
  return {0, std::min(j, rows)};
}

/// Returns sum + a * b; std::complex's operator* would check for NaN.
inline double multiply_add(double a, double b, double sum) noexcept {
  return sum + a * b;
}
inline std::complex<double> multiply_add(std::complex<double> a, std::complex<double> b,
                                         std::complex<double> sum) noexcept {
  return {sum.real() + a.real() * b.real() - a.imag() * b.imag(),
          sum.imag() + a.real() * b.imag() + a.imag() * b.real()};
}

inline double conjugate(double a) noexcept {
  return a;
}
inline std::complex<double> conjugate(std::complex<double> a) noexcept {
  return std::conj(a);
}

/// y += A x, for a region of A.
template <scalar T>
void add_product(region which, const_view<T> a, const wide_vector<T>& x, wide_vector<T>& y) {
  for (index_t j = 0; j < a.cols(); ++j) {
    const auto [first, last] = rows_in(which, a.rows(), j);
    const T* const column = a.column(j);
    const wide<T> factor = x[static_cast<std::size_t>(j)];
    for (index_t i = first; i < last; ++i) {
      wide<T>& sum = y[static_cast<std::size_t>(i)];
      sum = multiply_add(widened(column[i]), factor, sum);
    }
  }
}

/// y += A' x, for a region of A; ' is the conjugate transpose.
template <scalar T>
void add_adjoint_product(region which, const_view<T> a, const wide_vector<T>& x,
                         wide_vector<T>& y) {
  for (index_t j = 0; j < a.cols(); ++j) {
    const auto [first, last] = rows_in(which, a.rows(), j);
    const T* const column = a.column(j);
    wide<T> sum = y[static_cast<std::size_t>(j)];
    for (index_t i = first; i < last; ++i) {
      sum = multiply_add(conjugate(widened(column[i])), x[static_cast<std::size_t>(i)], sum);
    }
    y[static_cast<std::size_t>(j)] = sum;
  }
}

template <scalar T>
wide_vector<T> product(region which, const_view<T> a, const wide_vector<T>& x) {
  wide_vector<T> y(static_cast<std::size_t>(a.rows()));
  add_product(which, a, x, y);
  return y;
}

template <scalar T>
wide_vector<T> adjoint_product(region which, const_view<T> a, const wide_vector<T>& x) {
  wide_vector<T> y(static_cast<std::size_t>(a.cols()));
  add_adjoint_product(which, a, x, y);
  return y;
}

/// Returns A x, where A is Hermitian and one triangle of it is stored.
template <scalar T>
wide_vector<T> hermitian_product(triangle which, const_view<T> a, const wide_vector<T>& x) {
  const region strict = outside_diagonal(which);
  wide_vector<T> y = product(strict, a, x);
  add_adjoint_product(strict, a, x, y);
  for (index_t i = 0; i < a.rows(); ++i) {
    wide<T>& sum = y[static_cast<std::size_t>(i)];
    sum = multiply_add(wide<T>(std::real(a(i, i))), x[static_cast<std::size_t>(i)], sum);
  }
  return y;
}

}  // namespace creek::linalg::detail

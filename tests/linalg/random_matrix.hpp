// SPDX-License-Identifier: Apache-2.0
// Random matrices for tests, and the distance between two matrices.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::testing {

#ifdef CREEK_TEST_FEW_CASES
using scalars = ::testing::Types<double, std::complex<float>>;
#else
using scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
#endif

template <scalar T>
inline constexpr double eps = std::numeric_limits<real<T>>::epsilon();

template <scalar T>
T random_scalar(std::mt19937& random) {
  std::uniform_real_distribution<real<T>> one(-1, 1);
  if constexpr (is_complex<T>) {
    const real<T> re = one(random);
    return {re, one(random)};
  } else {
    return one(random);
  }
}

/// Returns a matrix with elements in [-1, 1), in both parts of complex ones.
template <scalar T>
matrix<T> random_matrix(index_t rows, index_t cols, std::mt19937& random) {
  matrix<T> a(rows, cols);
  for (index_t j = 0; j < cols; ++j) {
    for (index_t i = 0; i < rows; ++i) a(i, j) = random_scalar<T>(random);
  }
  return a;
}

template <scalar T>
T conjugated(T x) {
  if constexpr (is_complex<T>) return std::conj(x);
  return x;
}

/// Returns op(a) as a matrix.
template <scalar T>
matrix<T> applied(op how, const matrix<T>& a) {
  if (how == op::none) return a;
  matrix<T> b(a.cols(), a.rows());
  for (index_t j = 0; j < a.cols(); ++j) {
    for (index_t i = 0; i < a.rows(); ++i) {
      b(j, i) = how == op::transpose ? a(i, j) : conjugated(a(i, j));
    }
  }
  return b;
}

/// Returns a * b by the definition.
template <scalar T>
matrix<T> product(const matrix<T>& a, const matrix<T>& b) {
  matrix<T> c(a.rows(), b.cols());
  for (index_t j = 0; j < b.cols(); ++j) {
    for (index_t p = 0; p < a.cols(); ++p) {
      for (index_t i = 0; i < a.rows(); ++i) c(i, j) += a(i, p) * b(p, j);
    }
  }
  return c;
}

/// Returns alpha a + beta b.
template <scalar T>
matrix<T> sum(T alpha, const matrix<T>& a, T beta, const matrix<T>& b) {
  matrix<T> c(a.rows(), a.cols());
  for (index_t j = 0; j < a.cols(); ++j) {
    for (index_t i = 0; i < a.rows(); ++i) c(i, j) = alpha * a(i, j) + beta * b(i, j);
  }
  return c;
}

/// Returns the largest difference between elements; infinite if one is not a number.
template <scalar T>
double distance(const_view<T> a, const_view<T> b) {
  double most = 0;
  for (index_t j = 0; j < a.cols(); ++j) {
    for (index_t i = 0; i < a.rows(); ++i) {
      const double here = std::abs(a(i, j) - b(i, j));
      most = std::max(most, std::isnan(here) ? std::numeric_limits<double>::infinity() : here);
    }
  }
  return most;
}
template <scalar T>
double distance(const matrix<T>& a, const matrix<T>& b) {
  return distance<T>(a.view(), b.view());
}

/// Returns the triangle and the diagonal as a whole matrix, zero elsewhere.
template <scalar T>
matrix<T> only(triangle stored, diagonal ones, const matrix<T>& a) {
  matrix<T> t(a.rows(), a.cols());
  for (index_t j = 0; j < a.cols(); ++j) {
    for (index_t i = 0; i < a.rows(); ++i) {
      if (i == j) {
        t(i, j) = ones == diagonal::unit ? T{1} : a(i, j);
      } else if ((i > j) == (stored == triangle::lower)) {
        t(i, j) = a(i, j);
      }
    }
  }
  return t;
}

}  // namespace creek::linalg::testing

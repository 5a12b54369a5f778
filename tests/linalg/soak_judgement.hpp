// SPDX-License-Identifier: Apache-2.0
// Error measures that judge random calls, and random arguments that are not matrices.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>
#include <vector>

#include <creek/linalg/blas3.hpp>
#include <creek/linalg/residual.hpp>

#include "soak_case.hpp"

namespace creek::linalg::testing {

/// Error without a residual: a wrong info, or a write outside of a matrix.
inline constexpr double wrong = std::numeric_limits<double>::infinity();

/// Returns error / (size * terms * eps); 0 if the error is 0.
template <scalar T>
double scaled(double error, double size, index_t terms) {
  if (error == 0) return 0;
  const double result = error / size / static_cast<double>(terms) / unit_roundoff<T>;
  return std::isnan(result) ? wrong : result;
}

template <scalar T>
using wide_of = std::conditional_t<is_complex<T>, std::complex<double>, double>;

/// Adds a * b to sum for each row of a column, without std::complex's search for NaN.
template <scalar T>
void add_column(index_t rows, const T* a, wide_of<T> b, std::vector<wide_of<T>>& sum) {
  for (index_t i = 0; i < rows; ++i) {
    wide_of<T>& to = sum[static_cast<std::size_t>(i)];
    if constexpr (is_complex<T>) {
      const double re = a[i].real(), im = a[i].imag();
      to += wide_of<T>(re * b.real() - im * b.imag(), re * b.imag() + im * b.real());
    } else {
      to += static_cast<double>(a[i]) * b;
    }
  }
}

template <scalar T>
std::vector<wide_of<T>> times(const matrix<T>& a, const std::vector<wide_of<T>>& x) {
  std::vector<wide_of<T>> y(static_cast<std::size_t>(a.rows()));
  for (index_t j = 0; j < a.cols(); ++j) {
    add_column<T>(a.rows(), a.view().column(j), x[static_cast<std::size_t>(j)], y);
  }
  return y;
}

template <scalar T>
std::vector<wide_of<T>> column_of(const matrix<T>& a, index_t j) {
  return {a.view().column(j), a.view().column(j) + a.rows()};
}

/// Returns |B - A X| / (n eps (|A| |X| + |B|)), in double, of the worst column.
template <scalar T>
double equation_error(const matrix<T>& A, const matrix<T>& X, const matrix<T>& B) {
  const double size_of_a = norm_of<T>(norm::inf, A.view());
  double worst = 0;
  for (index_t j = 0; j < B.cols(); ++j) {
    const auto product = times(A, column_of(X, j));
    double error = 0;
    for (index_t i = 0; i < B.rows(); ++i) {
      const double here =
          std::abs(static_cast<wide_of<T>>(B(i, j)) - product[static_cast<std::size_t>(i)]);
      error = std::isnan(here) ? wrong : std::max(error, here);
    }
    const double size = size_of_a * norm_of<T>(norm::max, X.view().columns(j, 1)) +
                        norm_of<T>(norm::max, B.view().columns(j, 1));
    worst = std::max(worst, scaled<T>(error, size, A.cols() + 2));
  }
  return worst;
}

inline op any_op(dice& d, bool transpose_too = true) {
  const index_t which = d.below(transpose_too ? 3 : 2);
  return which == 0 ? op::none : which == 1 ? op::conjugate_transpose : op::transpose;
}
inline triangle any_triangle(dice& d) {
  return d.one_in(2) ? triangle::lower : triangle::upper;
}
inline index_t any_block(dice& d) {
  return d.one_in(2) ? 0 : 1 + d.below(d.one_in(2) ? 20 : 200);
}

/// Returns |A^H (B - A X)| / (m eps |A| |B|).
template <scalar T>
double least_squares_error(const matrix<T>& A, const matrix<T>& X, const matrix<T>& B) {
  matrix<T> left = B, upright(A.cols(), B.cols());
  gemm<T>(op::none, op::none, T{-1}, A, X, T{1}, left.view());
  gemm<T>(op::conjugate_transpose, op::none, T{1}, A, left, T{0}, upright.view());
  const double size = norm_of<T>(norm::one, A.view()) * norm_of<T>(norm::one, B.view());
  return scaled<T>(norm_of<T>(norm::one, upright.view()), size, A.rows());
}

/// Returns how far C is from alpha A B + beta `before`, measured on a vector of signs.
template <scalar T>
double product_error(dice& d, T alpha, const matrix<T>& A, const matrix<T>& B, T beta,
                     const matrix<T>& before, const matrix<T>& C) {
  std::vector<wide_of<T>> x(static_cast<std::size_t>(C.cols()));
  for (auto& sign : x) sign = d.one_in(2) ? 1 : -1;
  const auto product = times(A, times(B, x)), old = times(before, x), found = times(C, x);
  double error = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto expected =
        static_cast<wide_of<T>>(alpha) * product[i] + static_cast<wide_of<T>>(beta) * old[i];
    const double here = std::abs(found[i] - expected);
    error = std::isnan(here) ? wrong : std::max(error, here);
  }
  const double size = norm_of<T>(norm::inf, A.view()) * norm_of<T>(norm::inf, B.view()) +
                      norm_of<T>(norm::inf, before.view());
  return scaled<T>(error, size, A.cols() + 2);
}

inline constexpr residual_options by_vectors{.exact_up_to = 40};

}  // namespace creek::linalg::testing

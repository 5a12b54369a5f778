// SPDX-License-Identifier: Apache-2.0
#include <creek/linalg/residual.hpp>
#include <vector>

#include "magnitudes.hpp"

namespace creek::linalg {
namespace {

template <scalar T>
double magnitude(T value) noexcept {
  return std::abs(detail::widened(value));
}

template <scalar T>
double norm_by_columns(norm which, const_view<T> a) {
  double result = 0;
  for (index_t j = 0; j < a.cols(); ++j) {
    double sum = 0;
    for (index_t i = 0; i < a.rows(); ++i) {
      const double here = magnitude(a(i, j));
      sum = which == norm::one ? sum + here : detail::greater(sum, here);
    }
    result = detail::greater(result, sum);
  }
  return result;
}

template <scalar T>
double inf_norm(const_view<T> a) {
  std::vector<double> sums(static_cast<std::size_t>(a.rows()));
  for (index_t j = 0; j < a.cols(); ++j) {
    const T* const column = a.column(j);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += magnitude(column[i]);
  }
  double result = 0;
  for (const double sum : sums) result = detail::greater(result, sum);
  return result;
}

template <scalar T>
double frobenius_norm(const_view<T> a) {
  detail::root_of_squares sum;
  for (index_t j = 0; j < a.cols(); ++j) {
    for (index_t i = 0; i < a.rows(); ++i) sum.add(magnitude(a(i, j)));
  }
  return sum.value();
}

}  // namespace

template <scalar T>
double norm_of(norm which, const_view<T> a) {
  if (a.empty()) return 0;
  if (which == norm::inf) return inf_norm(a);
  if (which == norm::frobenius) return frobenius_norm(a);
  return norm_by_columns(which, a);
}

template double norm_of(norm, const_view<float>);
template double norm_of(norm, const_view<double>);
template double norm_of(norm, const_view<std::complex<float>>);
template double norm_of(norm, const_view<std::complex<double>>);

}  // namespace creek::linalg

// SPDX-License-Identifier: Apache-2.0
#include <creek/linalg/residual.hpp>
#include <vector>

#include "checks.hpp"
#include "magnitudes.hpp"
#include "matrix_vector.hpp"

namespace creek::linalg {
namespace {

using detail::magnitude;

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

/// Norm accumulated from elements in any order.
class norm_sum {
 public:
  norm_sum(norm which, index_t lines) : which_(which), sums_(static_cast<std::size_t>(lines)) {}

  void add(index_t i, index_t j, double here) {
    if (which_ == norm::frobenius) return squares_.add(here);
    double& sum = sums_[static_cast<std::size_t>(which_ == norm::inf ? i : j)];
    sum = which_ == norm::max ? detail::greater(sum, here) : sum + here;
  }
  double value() const {
    if (which_ == norm::frobenius) return squares_.value();
    double result = 0;
    for (const double sum : sums_) result = detail::greater(result, sum);
    return result;
  }

 private:
  norm which_;
  std::vector<double> sums_;  // per row or column
  detail::root_of_squares squares_;
};

}  // namespace

template <scalar T>
double norm_of_hermitian(norm which, triangle stored, const_view<T> a) {
  detail::require(a.rows() == a.cols(), "norm_of_hermitian", "the matrix must be square");
  norm_sum sum(which, a.cols());
  for (index_t j = 0; j < a.cols(); ++j) {
    sum.add(j, j, magnitude(std::real(a(j, j))));
    const auto [first, last] = detail::rows_in(detail::outside_diagonal(stored), a.rows(), j);
    for (index_t i = first; i < last; ++i) {
      const double here = magnitude(a(i, j));
      sum.add(i, j, here);
      sum.add(j, i, here);
    }
  }
  return sum.value();
}

template <scalar T>
double norm_of_triangular(norm which, triangle stored, diagonal ones, const_view<T> a) {
  norm_sum sum(which, std::max(a.rows(), a.cols()));
  for (index_t j = 0; j < a.cols(); ++j) {
    if (j < a.rows()) sum.add(j, j, ones == diagonal::unit ? 1 : magnitude(a(j, j)));
    const auto [first, last] = detail::rows_in(detail::outside_diagonal(stored), a.rows(), j);
    for (index_t i = first; i < last; ++i) sum.add(i, j, magnitude(a(i, j)));
  }
  return sum.value();
}

template <scalar T>
double norm_of(norm which, const_view<T> a) {
  if (a.empty()) return 0;
  if (which == norm::inf) return inf_norm(a);
  if (which == norm::frobenius) return frobenius_norm(a);
  return norm_by_columns(which, a);
}

#define CREEK_INSTANTIATE(letter, T)                                \
  template double norm_of(norm, const_view<T>);                     \
  template double norm_of_hermitian(norm, triangle, const_view<T>); \
  template double norm_of_triangular(norm, triangle, diagonal, const_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg

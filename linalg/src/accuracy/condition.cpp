// SPDX-License-Identifier: Apache-2.0
#include <creek/linalg/condition.hpp>

#include <cmath>
#include <limits>

#include "checks.hpp"
#include "kernels/vector_kernels.hpp"
#include "norm_estimate.hpp"

namespace creek::linalg {
namespace {

using detail::linear_map;
using detail::require;

/// `inverse` applies the matrix whose one-norm is estimated. `largest`: largest factor magnitude.
template <scalar T>
double reciprocal_condition(index_t n, double anorm, const linear_map<T>& inverse, double largest) {
  if (n == 0) return 1;
  if (std::isnan(anorm) || std::isnan(largest)) return std::numeric_limits<double>::quiet_NaN();
  if (anorm == 0 || std::isinf(anorm)) return 0;
  const double norm_of_inverse = detail::estimate_one_norm<T>(n, inverse);
  // An intermediate infinity can become NaN.
  if (!std::isfinite(norm_of_inverse) || norm_of_inverse == 0) return 0;
  return 1 / norm_of_inverse / anorm;
}

void require_norm(norm which, const char* routine) {
  require(which == norm::one || which == norm::inf, routine, "the norm must be one or inf");
}

/// Returns how to apply A: the infinity norm is the one-norm of the conjugate transpose.
op turned_if(bool is_inf, op how) {
  return is_inf ? detail::other(how, true) : how;
}

}  // namespace

template <scalar T>
double gecon(norm which, const_view<T> LU, double anorm) {
  require_norm(which, "gecon");
  require(LU.rows() == LU.cols(), "gecon", "LU must be square");
  require(!(anorm < 0), "gecon", "anorm must not be negative");
  if (!std::isnan(anorm) && detail::zero_on_diagonal(LU) != 0) return 0;
  // P is left out: exchanging columns of the inverse changes neither norm.
  const auto inverse = [&](op how, matrix_view<T> X) {
    const op applied = turned_if(which == norm::inf, how);
    const auto solve = [&](triangle stored, diagonal ones) {
      trsm<T>(side::left, stored, applied, ones, T{1}, LU, X);
    };
    if (applied == op::none) solve(triangle::lower, diagonal::unit);
    solve(triangle::upper, diagonal::stored);
    if (applied != op::none) solve(triangle::lower, diagonal::unit);
  };
  return reciprocal_condition<T>(LU.rows(), anorm, inverse, norm_of(norm::max, LU));
}

template <scalar T>
double pocon(triangle stored, const_view<T> factor, double anorm) {
  require(factor.rows() == factor.cols(), "pocon", "the factor must be square");
  require(!(anorm < 0), "pocon", "anorm must not be negative");
  if (!std::isnan(anorm) && detail::zero_on_diagonal(factor) != 0) return 0;
  const auto inverse = [&](op, matrix_view<T> X) {
    const op first = stored == triangle::lower ? op::none : op::conjugate_transpose;
    for (const op how : {first, detail::other(first, true)}) {
      trsm<T>(side::left, stored, how, diagonal::stored, T{1}, factor, X);
    }
  };
  return reciprocal_condition<T>(factor.rows(), anorm, inverse,
                                 norm_of_hermitian(norm::max, stored, factor));
}

template <scalar T>
double trcon(norm which, triangle stored, diagonal ones, const_view<T> A) {
  require_norm(which, "trcon");
  require(A.rows() == A.cols(), "trcon", "A must be square");
  const double anorm = norm_of_triangular(which, stored, ones, A);
  const bool has_zero = ones == diagonal::stored && detail::zero_on_diagonal(A) != 0;
  if (!std::isnan(anorm) && has_zero) return 0;
  const auto inverse = [&](op how, matrix_view<T> X) {
    trsm<T>(side::left, stored, turned_if(which == norm::inf, how), ones, T{1}, A, X);
  };
  return reciprocal_condition<T>(A.rows(), anorm, inverse, anorm);
}

#define CREEK_INSTANTIATE(letter, T)                         \
  template double gecon<T>(norm, const_view<T>, double);     \
  template double pocon<T>(triangle, const_view<T>, double); \
  template double trcon<T>(norm, triangle, diagonal, const_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg

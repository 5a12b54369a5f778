// SPDX-License-Identifier: Apache-2.0
// Inverses are applied without a look at overflow. If a number is not finite, the estimate is made
// anew by solutions that are scaled.
#include <creek/linalg/condition.hpp>

#include <cmath>
#include <limits>

#include "checks.hpp"
#include "kernels/vector_kernels.hpp"
#include "lent_memory.hpp"
#include "matrix_vector.hpp"
#include "norm_estimate.hpp"
#include "vector_solve.hpp"

namespace creek::linalg {
namespace detail {
namespace {

/// Memory of an estimate for an n x n matrix: the caller's, or that of small matrices in place.
template <scalar T>
class condition_space {
 public:
  condition_space(index_t n, std::span<T> work) : n_(n), memory_(work, condition_work_size<T>(n)) {}

  T* x() const noexcept { return memory_.data(); }
  T* reciprocals() const noexcept { return memory_.data() + n_; }
  T* signs() const noexcept { return memory_.data() + 2 * n_; }

 private:
  index_t n_;
  lent_memory<T, 96> memory_;
};

/// One triangular factor of the matrix whose inverse is applied.
template <scalar T>
struct triangular_factor {
  triangle stored;
  op how;
  diagonal ones;
  const_view<T> A;
};

/// Returns the factor's position in the conjugate transpose of the product.
template <scalar T>
triangular_factor<T> adjoint_of(const triangular_factor<T>& of) noexcept {
  const op turned = of.how == op::none ? op::conjugate_transpose : op::none;
  return {of.stored, turned, of.ones, of.A};
}

/// The matrix is first * second, or only `first`.
template <scalar T>
struct factored_matrix {
  triangular_factor<T> first;
  triangular_factor<T> second;
  bool is_product = true;

  /// Calls f for the factors in the order in which systems with the matrix, or with its conjugate
  /// transpose, are solved.
  template <class F>
  void for_each(op how, const F& f) const {
    if (how == op::none) {
      f(first);
      if (is_product) f(second);
    } else {
      if (is_product) f(adjoint_of(second));
      f(adjoint_of(first));
    }
  }
};

/// x = x / scale. Returns false if that overflows.
template <scalar T>
bool unscale(index_t n, T* x, double scale) noexcept {
  double largest = 0;
  for (index_t i = 0; i < n; ++i) largest = std::max(largest, magnitude_sum(x[i]));
  constexpr auto smallest = static_cast<double>(std::numeric_limits<real<T>>::min());
  if (scale == 0 || scale < largest * smallest) return false;
  for (index_t i = 0; i < n; ++i) x[i] = static_cast<T>(widened(x[i]) / scale);
  return true;
}

/// Estimates the norm of the inverse; `which` is one or inf.
template <scalar T>
double norm_of_inverse(norm which, const factored_matrix<T>& of, const condition_space<T>& space) {
  const index_t n = of.first.A.rows();
  // The infinity norm is the one-norm of the conjugate transpose.
  const auto turned = [&](op how) { return which == norm::inf ? other(how, true) : how; };
  const auto quick = [&](op how, T* x) {
    of.for_each(turned(how), [&](const triangular_factor<T>& each) {
      solve_vector(each.stored, each.how, each.ones, each.A, space.reciprocals(), x);
    });
    return true;
  };
  const double found = estimate_one_norm<T>(n, space.x(), space.signs(), quick);
  if (std::isfinite(found)) return found;
  for (const triangular_factor<T>& each : {of.first, of.second}) {
    const double largest = norm_of_triangular(norm::max, each.stored, each.ones, each.A);
    if (!std::isfinite(largest)) return largest;
  }
  return estimate_one_norm<T>(n, space.x(), space.signs(), [&](op how, T* x) {
    double scale = 1;
    of.for_each(turned(how), [&](const triangular_factor<T>& each) {
      scale *= solve_vector_scaled(each.stored, each.how, each.ones, each.A, x);
    });
    return scale == 1 || unscale(n, x, scale);
  });
}

template <scalar T>
double reciprocal_condition(norm which, double anorm, const factored_matrix<T>& of,
                            const condition_space<T>& space) {
  const double norm = norm_of_inverse(which, of, space);
  return norm == 0 ? 0 : 1 / norm / anorm;
}

/// Returns the norm, one or inf, of a triangle; `sums` has room for n elements.
template <scalar T>
double norm_of_triangle(norm which, triangle stored, diagonal ones, const_view<T> A, T* sums) {
  const index_t n = A.rows();
  auto* const rows = reinterpret_cast<real<T>*>(sums);
  if (which == norm::inf) std::fill_n(rows, n, real<T>{});
  double result = 0;
  for (index_t j = 0; j < n; ++j) {
    const auto [first, last] = rows_in(outside_diagonal(stored), n, j);
    const double diagonal = ones == diagonal::unit ? 1 : magnitude(A(j, j));
    if (which == norm::one) {
      const double sum = sum_of_magnitudes(last - first, A.column(j) + first);
      result = greater(result, diagonal + sum);
    } else {
      for (index_t i = first; i < last; ++i) rows[i] += static_cast<real<T>>(magnitude(A(i, j)));
      rows[j] += static_cast<real<T>>(diagonal);
    }
  }
  for (index_t i = 0; which == norm::inf && i < n; ++i) {
    result = greater(result, static_cast<double>(rows[i]));
  }
  return result;
}

void require_norm(norm which, const char* routine) {
  require(which == norm::one || which == norm::inf, routine, "the norm must be one or inf");
}

}  // namespace
}  // namespace detail

using namespace detail;

template <scalar T>
double gecon(norm which, const_view<T> LU, double anorm, std::span<T> work) {
  require_norm(which, "gecon");
  require(LU.rows() == LU.cols(), "gecon", "LU must be square");
  require(!(anorm < 0), "gecon", "anorm must not be negative");
  if (LU.rows() == 0) return 1;
  if (anorm == 0) return 0;
  const condition_space<T> space(LU.rows(), work);
  invert_diagonal(LU, space.reciprocals());
  // P is left out: exchanging columns of the inverse changes neither norm.
  const triangular_factor<T> lower{triangle::lower, op::none, diagonal::unit, LU};
  const triangular_factor<T> upper{triangle::upper, op::none, diagonal::stored, LU};
  return reciprocal_condition<T>(which, anorm, {lower, upper}, space);
}

template <scalar T>
double pocon(triangle stored, const_view<T> factor, double anorm, std::span<T> work) {
  require(factor.rows() == factor.cols(), "pocon", "the factor must be square");
  require(!(anorm < 0), "pocon", "anorm must not be negative");
  if (factor.rows() == 0) return 1;
  if (anorm == 0) return 0;
  const condition_space<T> space(factor.rows(), work);
  invert_diagonal(factor, space.reciprocals());
  const triangular_factor<T> half{stored, op::none, diagonal::stored, factor};
  const bool is_lower = stored == triangle::lower;
  return reciprocal_condition<T>(
      norm::one, anorm, {is_lower ? half : adjoint_of(half), is_lower ? adjoint_of(half) : half},
      space);
}

template <scalar T>
double trcon(norm which, triangle stored, diagonal ones, const_view<T> A, std::span<T> work) {
  require_norm(which, "trcon");
  require(A.rows() == A.cols(), "trcon", "A must be square");
  if (A.rows() == 0) return 1;
  const condition_space<T> space(A.rows(), work);
  const double anorm = norm_of_triangle(which, stored, ones, A, space.x());
  if (anorm == 0) return 0;
  if (ones == diagonal::stored) invert_diagonal(A, space.reciprocals());
  const triangular_factor<T> whole{stored, op::none, ones, A};
  return reciprocal_condition<T>(which, anorm, {whole, whole, false}, space);
}

#define CREEK_INSTANTIATE(letter, T)                                       \
  template double gecon<T>(norm, const_view<T>, double, std::span<T>);     \
  template double pocon<T>(triangle, const_view<T>, double, std::span<T>); \
  template double trcon<T>(norm, triangle, diagonal, const_view<T>, std::span<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg

// SPDX-License-Identifier: Apache-2.0
// Each residual compares two linear maps, on all unit vectors or on a few random vectors.
#include <creek/linalg/residual.hpp>

#include <algorithm>
#include <cmath>
#include <creek/core/error.hpp>

#include "counter_hash.hpp"
#include "matrix_vector.hpp"

namespace creek::linalg {
namespace {

using detail::region;
using detail::wide;
using detail::wide_vector;

void require_fit(bool fits, const char* what) {
  if (!fits) throw usage_error(what);
}

bool is_exact(const residual_options& options, index_t rows, index_t cols) noexcept {
  return std::max(rows, cols) <= options.exact_up_to;
}

/// Returns the norm of E = left - right, exact or estimated. The maps take vectors of `cols`
/// elements.
template <scalar T, class Left, class Right>
double norm_of_difference(index_t cols, bool exact, const residual_options& options, Left left,
                          Right right) {
  require_fit(exact || options.vectors > 0, "a randomised residual needs at least one vector");
  wide_vector<T> x(static_cast<std::size_t>(cols));
  double largest = 0;
  detail::root_of_squares squares;
  for (index_t k = 0; k < (exact ? cols : options.vectors); ++k) {
    const detail::counter_hash hash(options.seed, static_cast<std::uint64_t>(k));
    for (std::size_t j = 0; j < x.size(); ++j) {
      x[j] = exact ? static_cast<index_t>(j) == k : hash.uniform<double>(j) < 0 ? -1 : 1;
    }
    const wide_vector<T> p = left(x);
    const wide_vector<T> q = right(x);
    double sum = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double error = std::abs(p[i] - q[i]);
      sum += error;
      squares.add(error);
    }
    largest = detail::greater(largest, sum);
  }
  return exact ? largest : squares.value() / std::sqrt(options.vectors);
}

/// Returns error / (n * size * eps), divided in an order that does not overflow.
template <scalar T>
double scaled(double error, double size, index_t n) noexcept {
  if (error == 0) return 0;
  if (size == 0) return error > 0 ? 1 / unit_roundoff<T> : error;
  return error / static_cast<double>(n) / size / unit_roundoff<T>;
}

/// Returns the unit lower trapezoid of `lu` times a vector.
template <scalar T>
wide_vector<T> unit_lower_product(const_view<T> lu, const wide_vector<T>& x) {
  wide_vector<T> y = detail::product(region::strictly_lower, lu, x);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] += x[i];
  return y;
}

/// Returns Q x or Q' x computed by the caller's function, in the caller's precision.
template <scalar T>
wide_vector<T> applied(const orthogonal_operator<T>& q, op how, const wide_vector<T>& x) {
  matrix<T> block(static_cast<index_t>(x.size()), 1);
  std::ranges::transform(x, block.data(), [](const wide<T>& from) { return static_cast<T>(from); });
  q(how, block.view());
  wide_vector<T> y(x.size());
  std::transform(block.data(), block.data() + x.size(), y.begin(), detail::widened<T>);
  return y;
}

norm kind_of_norm(bool exact) noexcept {
  return exact ? norm::one : norm::frobenius;
}

/// Returns |A - Q R| / (m |A| eps), where `q_r` computes Q R x.
template <scalar T, class Product>
double qr_residual_of(const_view<T> a, const residual_options& options, Product q_r) {
  const bool exact = is_exact(options, a.rows(), a.cols());
  const auto left = [&](const wide_vector<T>& x) { return detail::product(region::all, a, x); };
  const double error = norm_of_difference<T>(a.cols(), exact, options, left, q_r);
  return scaled<T>(error, norm_of(kind_of_norm(exact), a), a.rows());
}

}  // namespace

template <scalar T>
double lu_residual(const_view<T> a, const_view<T> lu, std::span<const index_t> ipiv,
                   const residual_options& options) {
  const index_t least = std::min(a.rows(), a.cols());
  require_fit(lu.rows() == a.rows() && lu.cols() == a.cols(), "LU has another shape than A");
  require_fit(static_cast<index_t>(ipiv.size()) >= least, "fewer pivots than rows and columns");
  if (a.empty()) return 0;
  ipiv = ipiv.first(static_cast<std::size_t>(least));
  if (std::ranges::any_of(ipiv, [&](index_t row) { return row < 0 || row >= a.rows(); })) {
    return std::numeric_limits<double>::infinity();
  }
  const auto p_a = [&](const wide_vector<T>& x) {
    wide_vector<T> y = detail::product(region::all, a, x);
    for (std::size_t i = 0; i < ipiv.size(); ++i) {
      std::swap(y[i], y[static_cast<std::size_t>(ipiv[i])]);
    }
    return y;
  };
  const auto l_u = [&](const wide_vector<T>& x) {
    const auto u_x = detail::product(region::upper, lu.block(0, 0, least, lu.cols()), x);
    return unit_lower_product(lu.columns(0, least), u_x);
  };
  const bool exact = is_exact(options, a.rows(), a.cols());
  const double error = norm_of_difference<T>(a.cols(), exact, options, l_u, p_a);
  return scaled<T>(error, norm_of(kind_of_norm(exact), a), a.cols());
}

template <scalar T>
double cholesky_residual(triangle which, const_view<T> a, const_view<T> factor,
                         const residual_options& options) {
  require_fit(a.rows() == a.cols(), "a matrix with a Cholesky factor is square");
  require_fit(factor.rows() == a.rows() && factor.cols() == a.cols(),
              "the Cholesky factor has another shape than A");
  const auto left = [&](const wide_vector<T>& x) { return detail::hermitian_product(which, a, x); };
  const auto right = [&](const wide_vector<T>& x) {
    if (which == triangle::upper) {
      return detail::adjoint_product(region::upper, factor,
                                     detail::product(region::upper, factor, x));
    }
    return detail::product(region::lower, factor,
                           detail::adjoint_product(region::lower, factor, x));
  };
  const bool exact = is_exact(options, a.rows(), a.cols());
  const double error = norm_of_difference<T>(a.cols(), exact, options, left, right);
  return scaled<T>(error, norm_of_hermitian(kind_of_norm(exact), which, a), a.cols());
}

template <scalar T>
double qr_residual(const_view<T> a, const_view<T> q, const_view<T> r,
                   const residual_options& options) {
  require_fit(q.rows() == a.rows() && q.cols() <= r.rows() && r.cols() == a.cols(),
              "Q, R and A do not fit each other");
  return qr_residual_of(a, options, [&](const wide_vector<T>& x) {
    const const_view<T> top = r.block(0, 0, q.cols(), r.cols());
    return detail::product(region::all, q, detail::product(region::upper, top, x));
  });
}

template <scalar T>
double qr_residual(const_view<T> a, const orthogonal_operator<T>& q, const_view<T> r,
                   const residual_options& options) {
  require_fit(r.rows() == a.rows() && r.cols() == a.cols(), "R has another shape than A");
  return qr_residual_of(a, options, [&](const wide_vector<T>& x) {
    return applied(q, op::none, detail::product(region::upper, r, x));
  });
}

template <scalar T>
double orthogonality(const_view<T> q, const residual_options& options) {
  const bool exact = is_exact(options, q.rows(), q.cols());
  const auto identity = [](const wide_vector<T>& x) { return x; };
  const auto q_q = [&](const wide_vector<T>& x) {
    return detail::adjoint_product(region::all, q, detail::product(region::all, q, x));
  };
  const double error = norm_of_difference<T>(q.cols(), exact, options, identity, q_q);
  return scaled<T>(error, 1, q.rows());
}

template <scalar T>
double orthogonality(index_t m, const orthogonal_operator<T>& q, const residual_options& options) {
  const bool exact = is_exact(options, m, m);
  const auto identity = [](const wide_vector<T>& x) { return x; };
  const auto q_q = [&](const wide_vector<T>& x) {
    return applied(q, op::conjugate_transpose, applied(q, op::none, x));
  };
  return scaled<T>(norm_of_difference<T>(m, exact, options, identity, q_q), 1, m);
}

template <scalar T>
double solve_residual(const_view<T> a, const_view<T> x, const_view<T> b) {
  require_fit(a.rows() == a.cols(), "a system that is solved is square");
  require_fit(x.rows() == a.cols() && b.rows() == a.rows() && x.cols() == b.cols(),
              "x, b and A do not fit each other");
  if (a.empty()) return 0;
  const double a_norm = norm_of(norm::inf, a);
  double worst = 0;
  for (index_t k = 0; k < b.cols(); ++k) {
    wide_vector<T> solution(static_cast<std::size_t>(x.rows()));
    std::transform(x.column(k), x.column(k) + x.rows(), solution.begin(), detail::widened<T>);
    const wide_vector<T> product = detail::product(region::all, a, solution);
    double error = 0;
    for (index_t i = 0; i < b.rows(); ++i) {
      const auto there = product[static_cast<std::size_t>(i)];
      error = detail::greater(error, std::abs(detail::widened(b(i, k)) - there));
    }
    const double size =
        a_norm * norm_of(norm::max, x.columns(k, 1)) + norm_of(norm::max, b.columns(k, 1));
    worst = detail::greater(worst, scaled<T>(error, size, a.rows()));
  }
  return worst;
}

#define CREEK_INSTANTIATE(letter, T)                                                              \
  template double lu_residual(const_view<T>, const_view<T>, std::span<const index_t>,             \
                              const residual_options&);                                           \
  template double cholesky_residual(triangle, const_view<T>, const_view<T>,                       \
                                    const residual_options&);                                     \
  template double qr_residual(const_view<T>, const_view<T>, const_view<T>,                        \
                              const residual_options&);                                           \
  template double qr_residual(const_view<T>, const orthogonal_operator<T>&, const_view<T>,        \
                              const residual_options&);                                           \
  template double orthogonality(const_view<T>, const residual_options&);                          \
  template double orthogonality(index_t, const orthogonal_operator<T>&, const residual_options&); \
  template double solve_residual(const_view<T>, const_view<T>, const_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg

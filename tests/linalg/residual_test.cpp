// SPDX-License-Identifier: Apache-2.0
// Norms and residuals against values computed by hand, against textbook factorizations, and against
// wrong answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <creek/core/error.hpp>
#include <creek/linalg/generate.hpp>
#include <creek/linalg/residual.hpp>
#include <limits>
#include <numeric>
#include <vector>

namespace creek::linalg {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double eps = unit_roundoff<double>;
const residual_options exact{};
const residual_options randomised{.exact_up_to = 0};

template <class T>
matrix<T> from_rows(std::initializer_list<std::initializer_list<T>> rows) {
  matrix<T> a(static_cast<index_t>(rows.size()), static_cast<index_t>(rows.begin()->size()));
  index_t i = 0;
  for (const auto& row : rows) {
    index_t j = 0;
    for (const T& element : row) a(i, j++) = element;
    ++i;
  }
  return a;
}

template <class T>
matrix<T> transposed(const matrix<T>& a) {
  matrix<T> result(a.cols(), a.rows());
  for (index_t j = 0; j < a.cols(); ++j) {
    for (index_t i = 0; i < a.rows(); ++i) {
      if constexpr (is_complex<T>) {
        result(j, i) = std::conj(a(i, j));
      } else {
        result(j, i) = a(i, j);
      }
    }
  }
  return result;
}

template <class T>
matrix<T> product(const matrix<T>& a, const matrix<T>& b) {
  matrix<T> c(a.rows(), b.cols());
  for (index_t j = 0; j < c.cols(); ++j) {
    for (index_t k = 0; k < a.cols(); ++k) {
      for (index_t i = 0; i < c.rows(); ++i) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}

/// Does textbook Gaussian elimination with partial pivoting.
template <class T>
std::vector<index_t> eliminate(matrix_view<T> a) {
  std::vector<index_t> pivots;
  for (index_t k = 0; k < std::min(a.rows(), a.cols()); ++k) {
    index_t pivot = k;
    for (index_t i = k; i < a.rows(); ++i) {
      if (std::abs(a(i, k)) > std::abs(a(pivot, k))) pivot = i;
    }
    pivots.push_back(pivot);
    for (index_t j = 0; j < a.cols(); ++j) std::swap(a(k, j), a(pivot, j));
    for (index_t i = k + 1; i < a.rows(); ++i) {
      a(i, k) /= a(k, k);
      for (index_t j = k + 1; j < a.cols(); ++j) a(i, j) -= a(i, k) * a(k, j);
    }
  }
  return pivots;
}

/// Returns the lower Cholesky factor; elements above the diagonal stay.
template <class T>
matrix<T> cholesky(matrix<T> a) {
  for (index_t k = 0; k < a.rows(); ++k) {
    a(k, k) = std::sqrt(std::real(a(k, k)));
    for (index_t i = k + 1; i < a.rows(); ++i) a(i, k) /= a(k, k);
    for (index_t j = k + 1; j < a.rows(); ++j) {
      for (index_t i = j; i < a.rows(); ++i) {
        if constexpr (is_complex<T>) {
          a(i, j) -= a(i, k) * std::conj(a(j, k));
        } else {
          a(i, j) -= a(i, k) * a(j, k);
        }
      }
    }
  }
  return a;
}

/// Does modified Gram-Schmidt twice: `a` becomes Q and R is returned.
template <class T>
matrix<T> orthogonalise(matrix<T>& a) {
  matrix<T> r(a.cols(), a.cols());
  for (index_t j = 0; j < a.cols(); ++j) {
    for (int pass = 0; pass < 2; ++pass) {
      for (index_t k = 0; k < j; ++k) {
        const matrix<T> left = transposed(matrix<T>(a.view().columns(k, 1)));
        const T along = product(left, matrix<T>(a.view().columns(j, 1)))(0, 0);
        r(k, j) += along;
        for (index_t i = 0; i < a.rows(); ++i) a(i, j) -= a(i, k) * along;
      }
    }
    const auto length = static_cast<real<T>>(norm_of<T>(norm::frobenius, a.view().columns(j, 1)));
    r(j, j) = length;
    for (index_t i = 0; i < a.rows(); ++i) a(i, j) /= length;
  }
  return r;
}

TEST(norms, are_those_of_the_textbook) {
  const auto a = from_rows<double>({{1, -2, 3}, {-4, 5, -6}});
  EXPECT_EQ(norm_of<double>(norm::one, a), 9);
  EXPECT_EQ(norm_of<double>(norm::inf, a), 15);
  EXPECT_EQ(norm_of<double>(norm::max, a), 6);
  EXPECT_DOUBLE_EQ(norm_of<double>(norm::frobenius, a), std::sqrt(91));
  using c = std::complex<float>;
  const auto b = from_rows<c>({{c(3, 4), c(0)}, {c(0), c(0, -12)}});
  EXPECT_EQ(norm_of<c>(norm::one, b), 12);
  EXPECT_EQ(norm_of<c>(norm::frobenius, b), 13);
  EXPECT_EQ(norm_of<double>(norm::one, a.view().block(0, 0, 0, 3)), 0);
  EXPECT_EQ(norm_of<double>(norm::one, a.view().block(0, 1, 2, 1)), 7);
}

TEST(norms, neither_overflow_nor_lose_what_is_not_a_number) {
  const auto big = from_rows<double>({{3e200, 4e200}});
  EXPECT_DOUBLE_EQ(norm_of<double>(norm::frobenius, big), 5e200);
  const auto small = from_rows<double>({{3e-200, 4e-200}});
  EXPECT_DOUBLE_EQ(norm_of<double>(norm::frobenius, small), 5e-200);
  for (const norm which : {norm::one, norm::inf, norm::max, norm::frobenius}) {
    for (const auto& a :
         {from_rows<double>({{nan, 1}, {1, 1}}), from_rows<double>({{1, 1}, {nan, 1}}),
          from_rows<double>({{1, nan}, {1, 7}})}) {
      EXPECT_TRUE(std::isnan(norm_of<double>(which, a)));
    }
    const auto a = from_rows<double>({{1, infinity}, {-infinity, 1}});
    EXPECT_EQ(norm_of<double>(which, a), infinity);
  }
}

TEST(residuals, are_scaled_as_lapack_and_hpl_scale_them) {
  // A = [4 2; 8 6]: exchange the rows, L = [1 0; 1/2 1], U = [8 6; 0 -1].
  const auto a = from_rows<double>({{4, 2}, {8, 6}});
  auto lu = from_rows<double>({{8, 6}, {0.5, -1}});
  const std::vector<index_t> pivots{1, 1};
  for (const auto& options : {exact, randomised}) {
    EXPECT_EQ(lu_residual<double>(a, lu, pivots, options), 0);
  }
  lu(1, 1) = -1.25;  // the difference is 1/4 in one element
  EXPECT_DOUBLE_EQ(lu_residual<double>(a, lu, pivots, exact), 0.25 / (2 * 12 * eps));
  EXPECT_DOUBLE_EQ(lu_residual<double>(a, lu, pivots, randomised),
                   0.25 / (2 * std::sqrt(120) * eps));
  const auto x = from_rows<double>({{1, 0}, {-2, 0}});
  const auto b = from_rows<double>({{0, 0}, {-3, 0}});  // A x = (0, -4)
  EXPECT_DOUBLE_EQ(solve_residual<double>(a, x, b), 1 / (2 * eps * (14 * 2 + 3)));
  const auto q = from_rows<double>({{1, 0}, {0, 1.5}, {0, 0}});
  EXPECT_DOUBLE_EQ(orthogonality<double>(q, exact), 1.25 / (3 * eps));
  EXPECT_DOUBLE_EQ(orthogonality<double>(q, randomised), 1.25 / (3 * eps));
}

template <class T>
class residuals_of : public testing::Test {};
using element_types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(residuals_of, element_types);

/// A residual must be small, and large once the element has changed by one (in single precision
/// the residuals allow for about a thousandth).
template <class T, class Residual>
void expect_sharp(T& element, Residual residual) {
  for (const auto& options : {exact, randomised}) {
    const double good = residual(options);
    EXPECT_TRUE(good >= 0 && good < 3) << good;
    const T kept = element;
    element += T(1);
    EXPECT_GT(residual(options), lapack_threshold);
    element = static_cast<T>(nan);
    EXPECT_FALSE(passes(residual(options)));
    element = kept;
  }
}

TYPED_TEST(residuals_of, lu_tell_right_from_wrong) {
  using T = TypeParam;
  for (const auto& [rows, cols] :
       {std::pair<index_t, index_t>{40, 40}, {50, 20}, {20, 50}, {1, 1}}) {
    const matrix<T> a = generate<T>({.seed = 3}, rows, cols);
    matrix<T> lu = a;
    std::vector<index_t> pivots = eliminate<T>(lu);
    const auto residual = [&](const residual_options& options) {
      return lu_residual<T>(a, lu, pivots, options);
    };
    expect_sharp(lu(0, 0), residual);
    expect_sharp(lu(rows - 1, 0), residual);
    expect_sharp(lu(0, cols - 1), residual);
    expect_sharp(lu(rows / 2, cols / 2), residual);
    if (rows == 1) continue;
    std::swap(pivots[0], pivots[1]);
    EXPECT_FALSE(passes(residual(exact)));
    EXPECT_FALSE(passes(residual(randomised)));
    for (const index_t outside : {index_t{-1}, rows}) {
      pivots[0] = outside;
      EXPECT_EQ(residual(exact), infinity);
    }
  }
}

TYPED_TEST(residuals_of, cholesky_tell_right_from_wrong_and_read_one_triangle) {
  using T = TypeParam;
  constexpr index_t n = 40;
  for (const matrix_recipe recipe : {matrix_recipe{matrix_kind::positive_definite, 1},
                                     matrix_recipe{matrix_kind::positive_definite, 1, 20}}) {
    matrix<T> a = generate<T>(recipe, n, n);
    matrix<T> l = cholesky(a);
    matrix<T> u = transposed(l);
    matrix<T> a_upper = a;
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < j; ++i) {
        a(i, j) = l(i, j) = a_upper(j, i) = u(j, i) = static_cast<T>(nan);
      }
    }
    for (const auto& [i, j] :
         {std::pair<index_t, index_t>{0, 0}, {n - 1, 0}, {n - 1, n - 1}, {9, 3}}) {
      expect_sharp(l(i, j), [&](const residual_options& options) {
        return cholesky_residual<T>(triangle::lower, a, l, options);
      });
      expect_sharp(u(j, i), [&](const residual_options& options) {
        return cholesky_residual<T>(triangle::upper, a_upper, u, options);
      });
    }
  }
}

TYPED_TEST(residuals_of, qr_tell_right_from_wrong) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair<index_t, index_t>{40, 40}, {50, 20}}) {
    const matrix<T> a = generate<T>({.seed = 4}, m, n);
    matrix<T> q = a;
    matrix<T> r = orthogonalise(q);
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = j + 1; i < n; ++i)
        r(i, j) = static_cast<T>(nan);  // where reflectors are stored
    }
    const auto residual = [&](const residual_options& options) {
      return qr_residual<T>(a, q, r, options);
    };
    expect_sharp(r(0, 0), residual);
    expect_sharp(r(0, n - 1), residual);
    expect_sharp(q(m - 1, 0), residual);
    expect_sharp(q(m - 1, n - 1),
                 [&](const residual_options& options) { return orthogonality<T>(q, options); });
  }
}

TYPED_TEST(residuals_of, qr_take_q_as_a_function) {
  using T = TypeParam;
  constexpr index_t n = 30;
  matrix<T> q = generate<T>({.seed = 4}, n, n);
  orthogonalise(q);
  matrix<T> r = generate<T>({.seed = 5}, n, 10);
  matrix<T> upper = r;
  for (index_t j = 0; j < 10; ++j) {
    for (index_t i = j + 1; i < n; ++i) {
      upper(i, j) = T(0);
      r(i, j) = static_cast<T>(nan);
    }
  }
  const matrix<T> a = product(q, upper);
  const orthogonal_operator<T> apply = [&](op how, matrix_view<T> x) {
    const matrix<T> by = how == op::none ? q : transposed(q);
    copy<T>(product(by, matrix<T>(x)).view(), x);
  };
  expect_sharp(r(0, 9), [&](const residual_options& options) {
    return qr_residual<T>(a, apply, r, options);
  });
  expect_sharp(q(n - 1, 3), [&](const residual_options& options) {
    return orthogonality<T>(n, apply, options);
  });
}

TYPED_TEST(residuals_of, solutions_tell_right_from_wrong) {
  using T = TypeParam;
  constexpr index_t n = 60;
  const matrix<T> a = generate<T>({.seed = 6}, n, n);
  matrix<T> x = generate<T>({.seed = 7}, n, 3);
  const matrix<T> b = product(a, x);
  const auto residual = [&](const residual_options&) { return solve_residual<T>(a, x, b); };
  expect_sharp(x(0, 0), residual);
  expect_sharp(x(n - 1, 2), residual);
}

TEST(residuals, estimate_the_frobenius_norm_of_the_error) {
  constexpr index_t n = 100;
  const matrix<double> l = generate<double>({matrix_kind::dominant, 1}, n, n);
  matrix<double> a = l;
  const std::vector<index_t> pivots = [] {
    std::vector<index_t> all(n);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }();
  const matrix<double> difference = generate<double>({.seed = 2}, n, n);
  matrix<double> lu = a;
  for (index_t k = 0; k < n; ++k) {  // L = I, so only U differs
    for (index_t i = k + 1; i < n; ++i) a(i, k) = lu(i, k) = 0;
    for (index_t i = 0; i <= k; ++i) lu(i, k) += difference(i, k);
  }
  matrix<double> upper = difference;
  for (index_t k = 0; k < n; ++k) std::fill(&upper(k, k) + 1, &upper(0, k) + n, 0.);
  const double norm = norm_of<double>(norm::frobenius, upper);
  const double expected = norm / (n * norm_of<double>(norm::frobenius, a) * eps);
  const residual_options many{.exact_up_to = 0, .vectors = 400};
  EXPECT_NEAR(lu_residual<double>(a, lu, pivots, many) / expected, 1, 0.05);
}

TEST(residuals, of_empty_and_of_zero_matrices) {
  const matrix<double> none;
  EXPECT_EQ(lu_residual<double>(none, none, {}), 0);
  EXPECT_EQ(solve_residual<double>(none, none, none), 0);
  EXPECT_EQ(cholesky_residual<double>(triangle::lower, none, none), 0);
  EXPECT_EQ(qr_residual<double>(none, none, none), 0);
  EXPECT_EQ(orthogonality<double>(none), 0);
  const matrix<double> zero(2, 2);
  auto lu = zero;
  const std::vector<index_t> pivots{0, 1};
  for (const auto& options : {exact, randomised}) {
    lu(0, 1) = 0;
    EXPECT_EQ(lu_residual<double>(zero, lu, pivots, options), 0);
    lu(0, 1) = 1e-300;
    EXPECT_EQ(lu_residual<double>(zero, lu, pivots, options), 1 / eps);
  }
}

TEST(residuals, refuse_shapes_that_do_not_fit) {
  const matrix<double> a(3, 3);
  const matrix<double> b(3, 2);
  const std::vector<index_t> pivots{0, 1, 2};
  EXPECT_THROW(lu_residual<double>(a, b, pivots), usage_error);
  EXPECT_THROW(lu_residual<double>(a, a, {}), usage_error);
  EXPECT_THROW(lu_residual<double>(a, a, pivots, {.exact_up_to = 0, .vectors = 0}), usage_error);
  EXPECT_THROW(cholesky_residual<double>(triangle::lower, b, b), usage_error);
  EXPECT_THROW(cholesky_residual<double>(triangle::lower, a, b), usage_error);
  EXPECT_THROW(qr_residual<double>(a, b, a.view().block(0, 0, 1, 3)), usage_error);
  EXPECT_THROW(solve_residual<double>(b, a, a), usage_error);
  EXPECT_THROW(solve_residual<double>(a, a, b), usage_error);
}

}  // namespace
}  // namespace creek::linalg

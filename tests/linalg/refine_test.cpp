// SPDX-License-Identifier: Apache-2.0
// Refined solutions: how accurate they become, and the accuracy that they report; solvers in two
// precisions, and when they fall back.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/host.hpp>
#include <creek/linalg/generate.hpp>
#include <creek/linalg/refine.hpp>
#include <creek/linalg/residual.hpp>
#include <creek/tasking.hpp>

#include "random_matrix.hpp"

namespace creek::linalg {
namespace {

using namespace creek::linalg::testing;

template <class T>
class Refine : public ::testing::Test {
 protected:
  std::mt19937 random{1980};

  matrix<T> any(index_t rows, index_t cols) { return random_matrix<T>(rows, cols, random); }
  matrix<T> definite(index_t n) {
    const auto a = any(n, n);
    auto b = product(applied(op::conjugate_transpose, a), a);
    for (index_t i = 0; i < n; ++i) b(i, i) = std::real(b(i, i)) + 1;
    return b;
  }
  /// Spoils the other triangle, which must not be read.
  static void spoil(triangle other, matrix<T>& a, double with) {
    for (index_t j = 0; j < a.cols(); ++j) {
      for (index_t i = 0; i < a.rows(); ++i) {
        if (i != j && (i > j) == (other == triangle::lower)) a(i, j) = static_cast<real<T>>(with);
      }
    }
  }
  static void disturb(matrix_view<T> x) {
    for (index_t j = 0; j < x.cols(); ++j) {
      for (index_t i = 0; i < x.rows(); ++i) {
        x(i, j) *= static_cast<real<T>>(1 + 1e-3 * static_cast<double>(i % 3));
      }
    }
  }

  /// Checks each column: the reported errors are small, and that of X is within ferr.
  static void check(const matrix<T>& exact, const matrix<T>& x, const std::vector<double>& ferr,
                    const std::vector<double>& berr) {
    for (index_t j = 0; j < x.cols(); ++j) {
      const auto at = static_cast<std::size_t>(j);
      EXPECT_LE(berr[at], 8 * eps<T>);
      const auto column = [j](const matrix<T>& of) { return of.view().columns(j, 1); };
      const double error = distance<T>(column(exact), column(x));
      EXPECT_LE(error, ferr[at] * norm_of<T>(norm::max, column(x)) * 1.1);
      EXPECT_LE(ferr[at], 1e6 * eps<T>);
    }
  }
};
TYPED_TEST_SUITE(Refine, scalars);

TYPED_TEST(Refine, SolutionsByLu) {
  using T = TypeParam;
  for (const auto& [n, rhs] : {std::pair<index_t, index_t>{1, 1}, {2, 3}, {9, 2}, {130, 5}}) {
    auto a = this->any(n, n);
    for (index_t i = 0; i < n; ++i) a(i, i) += T{2};
    const lu<T> factors(a);
    const auto exact = this->any(n, rhs);
    for (const op how : {op::none, op::transpose, op::conjugate_transpose}) {
      const auto b = product(applied(how, a), exact);
      matrix<T> whole(n + 3, rhs);  // the distance between columns exceeds their length
      const matrix_view<T> x = whole.view().block(2, 0, n, rhs);
      copy<T>(factors.solve(b, how).view(), x);
      this->disturb(x);
      std::vector<double> ferr(static_cast<std::size_t>(rhs)), berr(ferr);
      runtime rt{host(2)};
      const int corrections = rt.run([&] {
        return gerfs(how, a, factors.factors(), factors.pivots(), b, x, std::span(ferr),
                     std::span(berr));
      });
      EXPECT_GE(corrections, n == 1 ? 0 : 1);
      EXPECT_LE(corrections, 5);
      // b is rounded, too: the exact solution of the rounded system differs by a few units.
      this->check(exact, matrix<T>(const_view<T>(x)), ferr, berr);
      EXPECT_EQ(whole(1, 0), T{});
      EXPECT_EQ(whole(n + 2, 0), T{});
    }
  }
}

TYPED_TEST(Refine, SolutionsByCholesky) {
  using T = TypeParam;
  for (const auto& [n, rhs] : {std::pair<index_t, index_t>{1, 1}, {9, 2}, {130, 5}}) {
    const auto whole = this->definite(n);
    const auto exact = this->any(n, rhs);
    const auto b = product(whole, exact);
    for (const triangle stored : {triangle::lower, triangle::upper}) {
      const triangle other = stored == triangle::lower ? triangle::upper : triangle::lower;
      auto a = whole;
      this->spoil(other, a, std::numeric_limits<double>::quiet_NaN());
      const cholesky<T> factor(a, stored);
      ASSERT_EQ(factor.info(), 0);
      auto x = factor.solve(b);
      this->disturb(x.view());
      std::vector<double> ferr(static_cast<std::size_t>(rhs)), berr(ferr);
      porfs(stored, a, factor.factor(), b, x.view(), std::span(ferr), std::span(berr));
      this->check(exact, x, ferr, berr);
    }
  }
}

TYPED_TEST(Refine, ColumnsThatAreExactStayExact) {
  using T = TypeParam;
  matrix<T> one(40, 40), b(40, 3);
  for (index_t i = 0; i < 40; ++i) one(i, i) = T{1};
  for (index_t i = 0; i < 40; ++i) b(i, 1) = static_cast<real<T>>(i);
  auto x = b;
  x(7, 2) = T{1};
  std::vector<index_t> pivots(40);
  for (std::size_t i = 0; i < 40; ++i) pivots[i] = static_cast<index_t>(i);
  std::vector<double> berr(3);
  EXPECT_EQ(
      gerfs(op::none, one, one, std::span<const index_t>(pivots), b, x.view(), {}, std::span(berr)),
      1);
  EXPECT_EQ(distance(x, b), 0);
  for (const double error : berr) EXPECT_LE(error, eps<T>);
}

TYPED_TEST(Refine, EmptyMatricesAndMisuse) {
  using T = TypeParam;
  matrix<T> none(0, 0), no_columns(3, 0), square(3, 3), flat(3, 4), x(3, 2);
  const std::vector<index_t> pivots{0, 1, 2};
  std::vector<double> errors(1, 7.0);
  EXPECT_EQ(gerfs(op::none, none, none, {}, matrix<T>(0, 1), matrix<T>(0, 1).view(), errors), 0);
  EXPECT_EQ(errors[0], 0);
  EXPECT_EQ(gerfs(op::none, square, square, pivots, no_columns, no_columns.view()), 0);
  EXPECT_THROW(gerfs(op::none, flat, square, pivots, x, x.view()), usage_error);
  EXPECT_THROW(gerfs(op::none, square, square, {}, x, x.view()), usage_error);
  EXPECT_THROW(gerfs(op::none, square, square, pivots, square, x.view()), usage_error);
  EXPECT_THROW(gerfs(op::none, square, square, pivots, x, x.view(), errors), usage_error);
  EXPECT_THROW(porfs(triangle::lower, square, flat, x, x.view()), usage_error);
}

template <class T>
class Mixed : public Refine<T> {};
using wide_scalars = ::testing::Types<double, std::complex<double>>;
TYPED_TEST_SUITE(Mixed, wide_scalars);

TYPED_TEST(Mixed, SolvesAsWellAsInFullPrecision) {
  using T = TypeParam;
  runtime rt{host(2)};
  for (const auto& [n, rhs] : {std::pair<index_t, index_t>{1, 1}, {2, 3}, {33, 1}, {150, 4}}) {
    const auto b = this->any(n, rhs);
    const auto a = this->any(n, n);
    auto left = a;
    matrix<T> x(n, rhs);
    std::vector<index_t> pivots(static_cast<std::size_t>(n));
    const auto done = rt.run(
        [&] { return gesv_mixed(left.view(), std::span(pivots), b, x.view(), {.block = 32}); });
    EXPECT_EQ(done.info, 0);
    EXPECT_GE(done.iterations, 0);
    EXPECT_EQ(distance(left, a), 0);
    EXPECT_LE(solve_residual<T>(a.view(), x.view(), b.view()), hpl_threshold);

    const auto definite = this->definite(n);
    for (const triangle stored : {triangle::lower, triangle::upper}) {
      auto half = definite;
      this->spoil(stored == triangle::lower ? triangle::upper : triangle::lower, half, 1e300);
      const auto before = half;
      const auto found = posv_mixed(stored, half.view(), b, x.view());
      EXPECT_EQ(found.info, 0);
      EXPECT_GE(found.iterations, 0);
      EXPECT_EQ(distance(half, before), 0);
      EXPECT_LE(solve_residual<T>(definite.view(), x.view(), b.view()), hpl_threshold);
    }
  }
}

TYPED_TEST(Mixed, FallsBackAndSaysWhy) {
  using T = TypeParam;
  const index_t n = 60;
  const auto b = this->any(n, 2);
  matrix<T> x(n, 2);
  std::vector<index_t> pivots(static_cast<std::size_t>(n));
  const auto solve = [&](const matrix<T>& a) {
    auto factors = a;
    const auto done = gesv_mixed(factors.view(), std::span(pivots), b, x.view());
    if (done.info == 0) {
      EXPECT_LE(solve_residual<T>(a.view(), x.view(), b.view()), hpl_threshold);
    }
    return done;
  };
  auto huge = this->any(n, n);
  huge(3, 4) = 1e300;
  EXPECT_EQ(solve(huge).iterations, mixed_result::overflow);
  auto tiny = this->any(n, n);
  for (index_t j = 0; j < n; ++j) tiny(5, j) *= 1e-60;
  EXPECT_EQ(solve(tiny).iterations, mixed_result::factorization);
  const auto ill = generate<T>({.seed = 3, .condition = 1e13}, n, n);
  EXPECT_EQ(solve(ill).iterations, mixed_result::convergence);
  auto singular = this->any(n, n);
  for (index_t i = 0; i < n; ++i) singular(i, 20) = T{};
  const auto none = solve(singular);
  EXPECT_EQ(none.iterations, mixed_result::factorization);
  EXPECT_EQ(none.info, 21);
  auto odd = this->any(n, n);
  odd(0, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_LT(gesv_mixed(odd.view(), std::span(pivots), b, x.view()).iterations, 0);
  EXPECT_TRUE(std::isnan(std::abs(x(n - 1, 0))));
}

TYPED_TEST(Mixed, CholeskyFallsBackToo) {
  using T = TypeParam;
  const index_t n = 40;
  const auto b = this->any(n, 1);
  matrix<T> x(n, 1);
  auto a = this->definite(n);
  a(0, 0) = 1e200;
  EXPECT_EQ(posv_mixed(triangle::lower, a.view(), b, x.view()).iterations, mixed_result::overflow);
  a = this->definite(n);
  a(30, 30) = -1;
  const auto indefinite = posv_mixed(triangle::upper, a.view(), b, x.view());
  EXPECT_EQ(indefinite.iterations, mixed_result::factorization);
  EXPECT_EQ(indefinite.info, 31);
}

TYPED_TEST(Mixed, EmptyMatricesAndMisuse) {
  using T = TypeParam;
  matrix<T> none(0, 0), square(3, 3), x(3, 2), other(3, 1);
  std::vector<index_t> pivots(2);
  EXPECT_EQ(gesv_mixed(none.view(), {}, matrix<T>(0, 2), matrix<T>(0, 2).view()).iterations, 0);
  EXPECT_THROW(gesv_mixed(square.view(), std::span(pivots), x, x.view()), usage_error);
  EXPECT_THROW(posv_mixed(triangle::lower, square.view(), x, other.view()), usage_error);
  EXPECT_THROW(posv_mixed(triangle::lower, x.view(), x, x.view()), usage_error);
}

}  // namespace
}  // namespace creek::linalg

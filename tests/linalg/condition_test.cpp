// SPDX-License-Identifier: Apache-2.0
// Condition estimates against norms of whole inverses; matrices that are singular or not finite.
#include <gtest/gtest.h>

#include <limits>
#include <span>
#include <string>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/host.hpp>
#include <creek/linalg/cholesky.hpp>
#include <creek/linalg/condition.hpp>
#include <creek/linalg/inverse.hpp>
#include <creek/linalg/lu.hpp>
#include <creek/tasking.hpp>

#include "random_matrix.hpp"

namespace creek::linalg {
namespace {

using namespace creek::linalg::testing;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Returns the transpose of a real matrix.
template <scalar T>
matrix<T> turned_around(const matrix<T>& a) {
  return applied(op::transpose, a);
}

/// An estimate of the norm of the inverse from below; the computed inverse also has errors.
void expect_near_from_above(double estimate, double exact, const std::string& what) {
  EXPECT_GE(estimate, exact * 0.8) << what;
  EXPECT_LE(estimate, exact * 3) << what;
}

template <class T>
class Condition : public ::testing::Test {
 protected:
  std::mt19937 random{2000};

  matrix<T> any(index_t n) { return random_matrix<T>(n, n, random); }
  /// Returns 1 / (i + j + 1): condition numbers of 5e5 and 2e10.
  static matrix<T> hilbert() {
    const index_t n = sizeof(real<T>) == 4 ? 5 : 8;
    matrix<T> a(n, n);
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < n; ++i) a(i, j) = T{1} / static_cast<real<T>>(i + j + 1);
    }
    return a;
  }
  /// Returns rows over ten, or four, orders of magnitude.
  matrix<T> graded(index_t n) {
    auto a = any(n);
    const double orders = sizeof(real<T>) == 4 ? 4 : 10;
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < n; ++i) {
        a(i, j) *= static_cast<real<T>>(
            std::pow(10, -orders * static_cast<double>(i) / static_cast<double>(n)));
      }
    }
    return a;
  }
  /// Returns a^H a / n + shift.
  static matrix<T> definite(const matrix<T>& a, double shift) {
    const index_t n = a.rows();
    auto b = product(applied(op::conjugate_transpose, a), a);
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < n; ++i) b(i, j) /= static_cast<real<T>>(n);
      b(j, j) += static_cast<real<T>>(shift);
    }
    return b;
  }

  static void check_gecon(const matrix<T>& a, const std::string& what) {
    lu<T> factors(a);
    ASSERT_EQ(factors.info(), 0) << what;
    auto inverse = factors.factors();
    ASSERT_EQ(getri(inverse.view(), factors.pivots()), 0) << what;
    for (const norm which : {norm::one, norm::inf}) {
      const double anorm = norm_of<T>(which, a);
      expect_near_from_above(gecon<T>(which, factors.factors(), anorm),
                             1 / anorm / norm_of<T>(which, inverse), what);
    }
  }
  static void check_pocon(const matrix<T>& a, triangle stored, const std::string& what) {
    cholesky<T> factor(a, stored);
    ASSERT_EQ(factor.info(), 0) << what;
    auto inverse = factor.factor();
    ASSERT_EQ(potri(stored, inverse.view()), 0) << what;
    const double anorm = norm_of<T>(norm::one, a);
    EXPECT_NEAR(norm_of_hermitian<T>(norm::inf, stored, a), anorm, 1e-5 * anorm) << what;
    expect_near_from_above(pocon<T>(stored, factor.factor(), anorm),
                           1 / anorm / norm_of_hermitian<T>(norm::one, stored, inverse), what);
  }
  static void check_trcon(const matrix<T>& a, triangle stored, diagonal ones,
                          const std::string& what) {
    auto inverse = a;
    ASSERT_EQ(trtri(stored, ones, inverse.view()), 0) << what;
    for (const norm which : {norm::one, norm::inf}) {
      const auto whole = only(stored, ones, a), inverted = only(stored, ones, inverse);
      const double exact = 1 / norm_of<T>(which, whole) / norm_of<T>(which, inverted);
      expect_near_from_above(trcon<T>(which, stored, ones, a), exact, what);
    }
  }
};
TYPED_TEST_SUITE(Condition, scalars);

TYPED_TEST(Condition, IsThatOfTheWholeInverse) {
  runtime rt{host(2)};
  for (const index_t n : {1, 2, 4, 5, 6, 17, 63, 150}) {
    const std::string what = "n = " + std::to_string(n);
    rt.run([&] { this->check_gecon(this->any(n), what); });
    this->check_gecon(this->graded(n), "graded, " + what);
    for (const triangle stored : {triangle::lower, triangle::upper}) {
      this->check_pocon(this->definite(this->any(n), 0.01), stored, what);
      auto a = this->any(n);
      for (index_t i = 0; i < n; ++i) a(i, i) += static_cast<real<TypeParam>>(n);
      this->check_trcon(a, stored, diagonal::stored, what);
      for (index_t j = 0; j < n; ++j) {
        for (index_t i = 0; i < n; ++i) a(i, j) /= static_cast<real<TypeParam>>(n);
      }
      this->check_trcon(a, stored, diagonal::unit, what + ", unit");
    }
  }
  this->check_gecon(this->hilbert(), "Hilbert");
  this->check_pocon(this->hilbert(), triangle::lower, "Hilbert");
  this->check_trcon(this->hilbert(), triangle::upper, diagonal::stored, "Hilbert");
}

/// Triangles whose inverses grow exponentially: intermediate results overflow at the larger order
/// in float, at none in double. [Higham 1988]
TYPED_TEST(Condition, OfTrianglesThatGrow) {
  using T = TypeParam;
  using R = real<T>;
  for (const index_t n : {20, 150}) {
    matrix<T> kahan(n, n);
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < j; ++i) kahan(i, j) = T{-1};
      kahan(j, j) = T{1};
    }
    // The largest column of the inverse is 2^(n-2), ..., 2, 1, 1.
    const double exact = std::ldexp(1.0, static_cast<int>(1 - n)) / static_cast<double>(n);
    if (n == 20 || sizeof(R) == 8) {
      expect_near_from_above(trcon<T>(norm::one, triangle::upper, diagonal::unit, kahan), exact,
                             "ones");
    } else {
      EXPECT_EQ(trcon<T>(norm::one, triangle::upper, diagonal::unit, kahan), 0);
    }
    // With this diagonal the solutions of the lower triangle come back into range.
    matrix<T> lu = turned_around(kahan);
    for (index_t i = 0; i < n; ++i) lu(i, i) = static_cast<R>(i < n / 2 ? 1 : 1e30);
    const double from_factors = gecon<T>(norm::inf, lu, 1);
    EXPECT_TRUE(std::isfinite(from_factors));
    EXPECT_GT(from_factors, 0);
  }
}

TYPED_TEST(Condition, WorksInTheMemoryThatItIsLent) {
  using T = TypeParam;
  const index_t n = 40;
  const auto a = this->any(n);
  const auto size = static_cast<std::size_t>(condition_work_size<T>(n));
  std::vector<T> work(size + 1, T{7});
  const std::span<T> lent(work.data(), size);
  EXPECT_EQ(gecon<T>(norm::one, a, 1, lent), gecon<T>(norm::one, a, 1));
  EXPECT_EQ(pocon<T>(triangle::upper, a, 1, lent), pocon<T>(triangle::upper, a, 1));
  EXPECT_EQ(trcon<T>(norm::inf, triangle::lower, diagonal::stored, a, lent),
            trcon<T>(norm::inf, triangle::lower, diagonal::stored, a));
  EXPECT_EQ(work[size], T{7});
}

TYPED_TEST(Condition, OfSingularMatricesIsZero) {
  using T = TypeParam;
  for (const index_t n : {1, 3, 60}) {
    auto a = this->any(n);
    a(n - 1, n - 1) = T{};
    EXPECT_EQ(gecon<T>(norm::one, a, 1), 0);
    EXPECT_EQ(pocon<T>(triangle::lower, a, 1), 0);
    EXPECT_EQ(trcon<T>(norm::inf, triangle::upper, diagonal::stored, a), 0);
    EXPECT_EQ(gecon<T>(norm::one, this->any(n), 0), 0);
    EXPECT_EQ(gecon<T>(norm::one, this->any(n), infinity), 0);
    // The inverse of this matrix overflows.
    matrix<T> tiny(n, n);
    for (index_t i = 0; i < n; ++i) tiny(i, i) = std::numeric_limits<real<T>>::denorm_min();
    EXPECT_EQ(gecon<T>(norm::one, tiny, 1), 0);
    EXPECT_EQ(pocon<T>(triangle::upper, tiny, 1), 0);
    EXPECT_EQ(trcon<T>(norm::one, triangle::upper, diagonal::stored, tiny), 0);
  }
}

TYPED_TEST(Condition, OfNaNIsNaN) {
  using T = TypeParam;
  for (const index_t n : {1, 3, 60}) {
    auto a = this->any(n);
    EXPECT_TRUE(std::isnan(gecon<T>(norm::one, a, nan)));
    a(0, n - 1) = static_cast<real<T>>(nan);
    EXPECT_TRUE(std::isnan(gecon<T>(norm::inf, a, 1)));
    EXPECT_TRUE(std::isnan(pocon<T>(triangle::upper, a, 1)));
    EXPECT_TRUE(std::isnan(trcon<T>(norm::one, triangle::upper, diagonal::stored, a)));
    // The other triangle is not singular.
    if (n == 1) continue;
    EXPECT_GT(trcon<T>(norm::one, triangle::lower, diagonal::unit, a), 0);
  }
}

TYPED_TEST(Condition, EmptyMatricesAndMisuse) {
  using T = TypeParam;
  const matrix<T> none(0, 0), flat(3, 4), square(3, 3);
  EXPECT_EQ(gecon<T>(norm::one, none, 0), 1);
  EXPECT_EQ(pocon<T>(triangle::lower, none, 0), 1);
  EXPECT_EQ(trcon<T>(norm::inf, triangle::lower, diagonal::unit, none), 1);
  EXPECT_THROW(gecon<T>(norm::one, flat, 1), usage_error);
  EXPECT_THROW(gecon<T>(norm::max, square, 1), usage_error);
  EXPECT_THROW(gecon<T>(norm::one, square, -1), usage_error);
  EXPECT_THROW(pocon<T>(triangle::lower, flat, 1), usage_error);
  EXPECT_THROW(trcon<T>(norm::frobenius, triangle::lower, diagonal::unit, square), usage_error);
  EXPECT_THROW(norm_of_hermitian<T>(norm::one, triangle::lower, flat), usage_error);
}

TYPED_TEST(Condition, NormsOfTriangles) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair<index_t, index_t>{5, 5}, {6, 3}, {3, 6}, {0, 3}, {1, 1}}) {
    const auto a = random_matrix<T>(m, n, this->random);
    for (const triangle stored : {triangle::lower, triangle::upper}) {
      for (const norm which : {norm::one, norm::inf, norm::max, norm::frobenius}) {
        for (const diagonal ones : {diagonal::stored, diagonal::unit}) {
          const double expected = norm_of<T>(which, only(stored, ones, a));
          EXPECT_NEAR(norm_of_triangular<T>(which, stored, ones, a), expected, 1e-14 * expected);
        }
        if (m != n) continue;
        auto whole = only(stored, diagonal::stored, a);
        for (index_t j = 0; j < n; ++j) {
          for (index_t i = 0; i < n; ++i) {
            if (i != j && (i > j) != (stored == triangle::lower)) whole(i, j) = whole(j, i);
          }
          whole(j, j) = std::real(whole(j, j));
        }
        const double expected = norm_of<T>(which, whole);
        EXPECT_NEAR(norm_of_hermitian<T>(which, stored, a), expected, 1e-14 * expected);
      }
    }
  }
}

}  // namespace
}  // namespace creek::linalg

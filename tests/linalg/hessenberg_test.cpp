// SPDX-License-Identifier: Apache-2.0
// Balancing and the Hessenberg form: Q is unitary, Q H Q^H is the matrix, permutations and scaling
// are similarity transformations by powers of two, results do not depend on the workers.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/host.hpp>
#include <creek/linalg/schur.hpp>
#include <creek/tasking.hpp>

#include "random_matrix.hpp"

namespace creek::linalg {
namespace {

using namespace creek::linalg::testing;

template <class T>
class Hessenberg : public ::testing::Test {
 protected:
  std::mt19937 random{271};

  static matrix<T> identity(index_t n) {
    matrix<T> one(n, n);
    for (index_t i = 0; i < n; ++i) one(i, i) = T{1};
    return one;
  }
  static double bound(index_t n) { return 20 * eps<T> * static_cast<double>(n + 8); }
  static std::vector<T> factors(index_t n) {
    return std::vector<T>(static_cast<std::size_t>(std::max<index_t>(0, n - 1)));
  }
  static matrix<T> upper(const matrix<T>& a) {
    matrix<T> h = a;
    for (index_t j = 0; j < h.cols(); ++j) {
      for (index_t i = j + 2; i < h.rows(); ++i) h(i, j) = T{};
    }
    return h;
  }
  /// Returns a matrix that is triangular outside of the active rows.
  matrix<T> with_active(index_t n, active_rows active) {
    matrix<T> a = random_matrix<T>(n, n, random);
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = j + 1; i < n; ++i) {
        if (j < active.first || i >= active.end) a(i, j) = T{};
      }
    }
    return a;
  }

  void check(index_t n, active_rows active) {
    const matrix<T> before = with_active(n, active);
    matrix<T> a = before;
    auto tau = factors(n);
    gehrd(a.view(), active, std::span<T>(tau));
    const matrix<T> h = upper(a);
    for (index_t i = active.first; i + 1 < active.end; ++i) EXPECT_EQ(std::imag(h(i + 1, i)), 0);
    matrix<T> q = a;
    orghr(q.view(), active, std::span<const T>(tau));
    const auto turned = applied(op::conjugate_transpose, q);
    EXPECT_LE(distance(product(turned, q), identity(n)), bound(n)) << n;
    EXPECT_LE(distance(product(q, product(h, turned)), before), bound(n)) << n;

    matrix<T> c = identity(n);
    ormhr(side::left, op::none, active, a.view(), std::span<const T>(tau), c.view());
    EXPECT_LE(distance(c, q), bound(n));
    ormhr(side::right, op::conjugate_transpose, active, a.view(), std::span<const T>(tau),
          c.view());
    EXPECT_LE(distance(c, identity(n)), bound(n));
  }
};
TYPED_TEST_SUITE(Hessenberg, scalars);

TYPED_TEST(Hessenberg, IsSimilarToTheMatrix) {
  for (const index_t n : {1, 2, 3, 5, 31, 64, 96, 97, 98, 129, 160, 203}) this->check(n, {0, n});
  this->check(0, {0, 0});
}

TYPED_TEST(Hessenberg, ReducesTheActiveRowsOnly) {
  this->check(9, {2, 7});
  this->check(9, {4, 5});
  this->check(150, {7, 139});
  this->check(140, {0, 128});
}

TYPED_TEST(Hessenberg, IsTheSameOnAnyWorkers) {
  using T = TypeParam;
  constexpr index_t n = 301;
  const matrix<T> before = random_matrix<T>(n, n, this->random);
  matrix<T> first = before;
  auto tau = this->factors(n);
  gehrd(first.view(), {0, n}, std::span<T>(tau));
  for (const unsigned workers : {1U, 2U, 3U}) {
    runtime rt{host(workers)};
    matrix<T> a = before;
    auto other = this->factors(n);
    rt.run([&] { gehrd(a.view(), {0, n}, std::span<T>(other)); });
    EXPECT_EQ(distance(a, first), 0) << workers;
    EXPECT_EQ(other, tau) << workers;
  }
}

TYPED_TEST(Hessenberg, RefusesShapesThatDoNotFit) {
  using T = TypeParam;
  matrix<T> a(4, 4), wide(4, 5);
  std::vector<T> tau(3), few(2);
  EXPECT_THROW(gehrd(a.view(), {0, 4}, std::span<T>(few)), usage_error);
  EXPECT_THROW(gehrd(wide.view(), {0, 4}, std::span<T>(tau)), usage_error);
  EXPECT_THROW(gehrd(a.view(), {0, 5}, std::span<T>(tau)), usage_error);
  EXPECT_THROW(orghr(a.view(), {3, 2}, std::span<const T>(tau)), usage_error);
  EXPECT_THROW(ormhr(side::left, op::none, {0, 4}, a.view(), std::span<const T>(tau),
                     matrix<T>(3, 2).view()),
               usage_error);
}

TYPED_TEST(Hessenberg, BalancingIsASimilarity) {
  using T = TypeParam;
  using R = real<T>;
  constexpr index_t n = 40;
  // Rows and columns of very different size, and a few isolated eigenvalues in random places.
  matrix<T> before = this->with_active(n, {5, 33});
  for (index_t j = 0; j < n; ++j) {
    for (index_t i = 0; i < n; ++i) {
      before(i, j) *= std::ldexp(R{1}, static_cast<int>((i * 7) % 19 - (j * 7) % 19));
    }
  }
  std::vector<index_t> order(n);
  for (index_t i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = i;
  std::shuffle(order.begin(), order.end(), this->random);
  matrix<T> mixed(n, n);
  for (index_t j = 0; j < n; ++j) {
    for (index_t i = 0; i < n; ++i) {
      mixed(i, j) = before(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(j)]);
    }
  }
  for (const balancing how :
       {balancing::none, balancing::permute, balancing::scale, balancing::both}) {
    const bool permutes = how == balancing::permute || how == balancing::both;
    matrix<T> a = mixed;
    std::vector<R> scale(n);
    const balanced_rows done = gebal(how, a.view(), std::span<R>(scale));
    EXPECT_TRUE(done.is_finite);
    EXPECT_EQ(done.active.first, permutes ? 5 : 0);
    EXPECT_EQ(done.active.end, permutes ? 33 : n);
    // V = D maps the balanced matrix to the original one: A D = D B, and D^-1 is that of the left.
    matrix<T> right = this->identity(n), left = this->identity(n);
    gebak<T>(how, side::right, done.active, scale, right.view());
    gebak<T>(how, side::left, done.active, scale, left.view());
    EXPECT_EQ(distance(product(applied(op::transpose, left), right), this->identity(n)), 0);
    EXPECT_EQ(distance(product(mixed, right), product(right, a)), 0) << "powers of two are exact";
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = j + 1; i < n; ++i) {
        if (j < done.active.first || i >= done.active.end) {
          EXPECT_EQ(a(i, j), T{});
        }
      }
    }
  }
}

TYPED_TEST(Hessenberg, BalancingMeetsTriangularMatricesAndNaN) {
  using T = TypeParam;
  using R = real<T>;
  matrix<T> a(6, 6);
  for (index_t j = 0; j < 6; ++j) {
    for (index_t i = 0; i <= j; ++i) a(i, j) = T{R(i + 2)};
  }
  std::vector<R> scale(6);
  const balanced_rows done = gebal(balancing::both, a.view(), std::span<R>(scale));
  EXPECT_EQ(done.active.first, 0);
  EXPECT_EQ(done.active.end, 1);
  matrix<T> odd = random_matrix<T>(6, 6, this->random);
  odd(3, 2) = std::numeric_limits<R>::quiet_NaN();
  EXPECT_FALSE(gebal(balancing::both, odd.view(), std::span<R>(scale)).is_finite);
  EXPECT_TRUE(gebal(balancing::permute, odd.view(), std::span<R>(scale)).is_finite);
  const balanced_rows empty = gebal(balancing::both, matrix<T>().view(), std::span<R>());
  EXPECT_EQ(empty.active.end, 0);
}

}  // namespace
}  // namespace creek::linalg

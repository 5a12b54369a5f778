// SPDX-License-Identifier: Apache-2.0
// Balancing and the Hessenberg form by their Fortran names and through LAPACKE in both layouts.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "lapack/names.hpp"

namespace creek::lapack::testing {
namespace {

using linalg::op;

template <class T>
class hessenberg_routines : public ::testing::Test {
 protected:
  std::mt19937 random{5};
};
TYPED_TEST_SUITE(hessenberg_routines, scalars);

TYPED_TEST(hessenberg_routines, give_a_similar_matrix_in_both_layouts) {
  using T = TypeParam;
  const std::string ghr = of_q<T>("ghr"), mhr = of_q<T>("mhr");
  for (const index_t n : {1, 2, 17, 230}) {
    const matrix<T> a = random_matrix<T>(n, n, this->random);
    matrix<T> h = a, rows = turned(a);
    std::vector<T> tau(static_cast<std::size_t>(n)), other = tau;
    ASSERT_EQ(lapack_with_work<T>("gehrd", n, n, 1, n, h.data(), ld(h), tau.data()), 0);
    ASSERT_EQ(lapacke<T>("gehrd", row_major, n, 1, n, rows.data(), ld(rows), other.data()), 0);
    EXPECT_EQ(distance(turned(rows), h), 0);
    EXPECT_EQ(other, tau);

    matrix<T> q = h;
    ASSERT_EQ(lapack_with_work<T>(ghr, n - 1, n, 1, n, q.data(), ld(q), tau.data()), 0);
    // C = Q^H A Q by ormhr from both sides.
    matrix<T> c = a;
    ASSERT_EQ(lapack_with_work<T>(mhr, n, 'L', adjoint<T>, n, n, 1, n, h.data(), ld(h), tau.data(),
                                  c.data(), ld(c)),
              0);
    matrix<T> c_rows = turned(c);
    ASSERT_EQ(lapacke<T>(mhr, row_major, 'R', 'N', n, n, 1, n, rows.data(), ld(rows), tau.data(),
                         c_rows.data(), ld(c_rows)),
              0);
    matrix<T> upper = h;
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = j + 2; i < n; ++i) upper(i, j) = T{};
    }
    EXPECT_LT(distance(turned(c_rows), upper), tolerance<T>(n)) << n;
    EXPECT_LT(distance(product(q, upper), product(a, q)), tolerance<T>(n)) << n;
    ASSERT_EQ(lapacke<T>(ghr, row_major, n, 1, n, rows.data(), ld(rows), tau.data()), 0);
    EXPECT_EQ(distance(turned(rows), q), 0);
  }
}

TYPED_TEST(hessenberg_routines, balance_in_both_layouts) {
  using T = TypeParam;
  using R = real<T>;
  matrix<T> a = random_matrix<T>(6, 6, this->random);
  for (index_t i = 0; i < 6; ++i) {
    if (i != 3) a(3, i) = T{};
    if (i != 1) a(i, 1) *= R(4096);
  }
  matrix<T> b = a, rows = turned(a);
  std::vector<R> scale(6), other(6);
  blas_int ilo = 0, ihi = 0;
  ASSERT_EQ(lapack<T>("gebal", 'b', 6, b.data(), ld(b), &ilo, &ihi, scale.data()), 0);
  EXPECT_EQ(ilo, 1);
  EXPECT_EQ(ihi, 5);
  EXPECT_EQ(scale[5], 4) << "row 4 was exchanged with the last one";
  ASSERT_EQ(lapacke<T>("gebal", row_major, 'B', 6, rows.data(), ld(rows), &ilo, &ihi, other.data()),
            0);
  EXPECT_EQ(distance(turned(rows), b), 0);
  EXPECT_EQ(other, scale);

  matrix<T> v(6, 6);
  for (index_t i = 0; i < 6; ++i) v(i, i) = T{1};
  matrix<T> v_rows = v;
  const R* const factors = scale.data();
  ASSERT_EQ(lapack<T>("gebak", 'B', 'R', 6, ilo, ihi, factors, 6, v.data(), ld(v)), 0);
  EXPECT_EQ(distance(product(a, v), product(v, b)), 0);
  ASSERT_EQ(
      lapacke<T>("gebak", row_major, 'B', 'R', 6, ilo, ihi, factors, 6, v_rows.data(), ld(v_rows)),
      0);
  EXPECT_EQ(distance(turned(v_rows), v), 0);
  T* const absent = nullptr;
  EXPECT_EQ(lapack<T>("gebal", 'B', 0, absent, 1, &ilo, &ihi, scale.data()), 0);
  EXPECT_EQ(ilo, 1);
  EXPECT_EQ(ihi, 0);
}

TYPED_TEST(hessenberg_routines, refuse_nan) {
  using T = TypeParam;
  using R = real<T>;
  matrix<T> a = random_matrix<T>(4, 4, this->random);
  a(2, 1) = std::numeric_limits<R>::quiet_NaN();
  std::vector<R> scale(4, R{1});
  std::vector<T> tau(4);
  blas_int ilo = 1, ihi = 4;
  EXPECT_EQ(lapacke<T>("gebal", row_major, 'B', 4, a.data(), ld(a), &ilo, &ihi, scale.data()), -4);
  EXPECT_EQ(lapacke<T>("gehrd", col_major, 4, 1, 4, a.data(), ld(a), tau.data()), -5);
  scale[1] = std::numeric_limits<R>::quiet_NaN();
  EXPECT_EQ(lapacke<T>("gebak", col_major, 'B', 'R', 4, 1, 4, scale.data(), 4, a.data(), ld(a)),
            -7);
}

TYPED_TEST(hessenberg_routines, tell_how_much_workspace_is_best) {
  using T = TypeParam;
  T* const nothing = nullptr;
  T best{};
  const auto expect = [&](double wanted, blas_int info) {
    EXPECT_EQ(info, 0);
    EXPECT_EQ(std::real(best), static_cast<real<T>>(wanted));
  };
  expect(100 * 32 + 65 * 64, lapack<T>("gehrd", 100, 1, 100, nothing, 100, nothing, &best, -1));
  expect(99 * 32, lapack<T>(of_q<T>("ghr"), 100, 1, 100, nothing, 100, nothing, &best, -1));
  expect(7 * 32, lapack<T>(of_q<T>("mhr"), 'L', 'N', 100, 7, 1, 100, nothing, 100, nothing, nothing,
                           100, &best, -1));
}

}  // namespace
}  // namespace creek::lapack::testing

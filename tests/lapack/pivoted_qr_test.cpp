// SPDX-License-Identifier: Apache-2.0
// QR with column pivoting and LQ, by their Fortran names and through LAPACKE in both layouts.
#include <gtest/gtest.h>

#include <vector>

#include "lapack/names.hpp"

namespace creek::lapack::testing {
namespace {

using linalg::copy;
using linalg::op;

struct lq_shape {
  index_t m, n;
};
constexpr lq_shape lq_shapes[] = {{0, 3}, {3, 0}, {1, 1}, {5, 9}, {40, 23}, {23, 40}, {150, 130}};

template <class T>
class pivoted_qr_routines : public ::testing::Test {
 protected:
  std::mt19937 random{5};

  /// Calls geqp3 with the least workspace that LAPACK allows.
  static blas_int factor(matrix<T>& a, std::vector<blas_int>& jpvt, std::vector<T>& tau) {
    const index_t m = a.rows(), n = a.cols();
    const index_t least = std::min(m, n) == 0 ? 1 : is_complex<T> ? n + 1 : 3 * n + 1;
    if constexpr (is_complex<T>) {
      T best{};
      std::vector<real<T>> rwork(static_cast<std::size_t>(2 * n));
      EXPECT_EQ(lapack<T>("geqp3", m, n, a.data(), ld(a), jpvt.data(), tau.data(), &best, -1,
                          rwork.data()),
                0);
      EXPECT_GE(std::real(best), least);
      std::vector<T> work(static_cast<std::size_t>(least));
      return lapack<T>("geqp3", m, n, a.data(), ld(a), jpvt.data(), tau.data(), work.data(),
                       work.size(), rwork.data());
    } else {
      return lapack_with_work<T>("geqp3", least, m, n, a.data(), ld(a), jpvt.data(), tau.data());
    }
  }
};
TYPED_TEST_SUITE(pivoted_qr_routines, scalars);

TYPED_TEST(pivoted_qr_routines, geqp3_in_both_layouts) {
  using T = TypeParam;
  for (const auto& [m, n] : lq_shapes) {
    const index_t k = std::min(m, n);
    for (const bool fixes_the_last : {false, true}) {
      const auto a = random_matrix<T>(m, n, this->random);
      std::vector<blas_int> given(static_cast<std::size_t>(n + 1)), jpvt;
      if (n > 0 && fixes_the_last) given[static_cast<std::size_t>(n - 1)] = 7;
      jpvt = given;
      auto f = a;
      std::vector<T> tau(static_cast<std::size_t>(k + 1));
      ASSERT_EQ(this->factor(f, jpvt, tau), 0);
      if (n > 0 && fixes_the_last) {
        EXPECT_EQ(jpvt[0], n);
      }
      matrix<T> moved(m, n), product_of_factors(m, n);
      for (index_t j = 0; j < n; ++j) {
        const auto from = static_cast<index_t>(jpvt[static_cast<std::size_t>(j)]) - 1;
        ASSERT_TRUE(from >= 0 && from < n);
        std::copy_n(a.view().column(from), m, moved.view().column(j));
        for (index_t i = 0; i <= std::min(j, m - 1); ++i) product_of_factors(i, j) = f(i, j);
      }
      ASSERT_EQ(lapack_with_work<T>(of_q<T>("mqr"), n, 'L', 'N', m, n, k, f.data(), ld(f),
                                    tau.data(), product_of_factors.data(), ld(moved)),
                0);
      EXPECT_LT(distance(product_of_factors, moved), tolerance<T>(m)) << m << " x " << n;

      auto rows = turned(a);
      auto pivots = given;
      std::vector<T> factors(tau.size());
      ASSERT_EQ(lapacke<T>("geqp3", row_major, m, n, rows.data(), ld(rows), pivots.data(),
                           factors.data()),
                0);
      EXPECT_EQ(distance(turned(rows), f), 0);
      EXPECT_EQ(pivots, jpvt);
      EXPECT_EQ(factors, tau);
    }
  }
}

TYPED_TEST(pivoted_qr_routines, lq_in_both_layouts) {
  using T = TypeParam;
  const std::string glq = of_q<T>("glq");
  for (const auto& [m, n] : lq_shapes) {
    const index_t k = std::min(m, n);
    const auto a = random_matrix<T>(m, n, this->random);
    auto f = a, rows = turned(a);
    std::vector<T> tau(static_cast<std::size_t>(k)), factors = tau;
    ASSERT_EQ(lapack_with_work<T>("gelqf", m, m, n, f.data(), ld(f), tau.data()), 0);
    ASSERT_EQ(lapacke<T>("gelqf", row_major, m, n, rows.data(), ld(rows), factors.data()), 0);
    EXPECT_EQ(distance(turned(rows), f), 0);
    EXPECT_EQ(factors, tau);

    matrix<T> q(n, n), low(m, n);
    copy<T>(f.view().block(0, 0, k, n), q.view().block(0, 0, k, n));
    auto q_rows = turned(q);
    ASSERT_EQ(lapack_with_work<T>(glq, n, n, n, k, q.data(), ld(q), tau.data()), 0);
    ASSERT_EQ(lapacke<T>(glq, row_major, n, n, k, q_rows.data(), ld(q_rows), tau.data()), 0);
    EXPECT_EQ(distance(turned(q_rows), q), 0);
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = j; i < m; ++i) low(i, j) = f(i, j);
    }
    EXPECT_LT(distance(product(low, q), a), tolerance<T>(n)) << m << " x " << n;
  }
}

}  // namespace
}  // namespace creek::lapack::testing

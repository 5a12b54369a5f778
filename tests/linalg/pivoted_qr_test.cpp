// SPDX-License-Identifier: Apache-2.0
// QR with column pivoting: Q R is A P, and each pivot is the column with the largest rest. LQ.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/host.hpp>
#include <creek/linalg/qr.hpp>
#include <creek/tasking.hpp>

#include "random_matrix.hpp"

namespace creek::linalg {
namespace {

using namespace creek::linalg::testing;

struct pivoting_shape {
  index_t m, n;
};

template <scalar T>
struct pivoted_factors {
  matrix<T> f;
  std::vector<index_t> pivots;
  std::vector<T> tau;

  explicit pivoted_factors(const matrix<T>& a, index_t fixed = 0)
      : f(a),
        pivots(static_cast<std::size_t>(a.cols())),
        tau(static_cast<std::size_t>(std::min(a.rows(), a.cols()))) {
    geqp3<T>(f.view(), pivots, tau, fixed);
  }
};

/// Returns the upper triangle or trapezoid.
template <scalar T>
matrix<T> upper_part(const matrix<T>& f) {
  matrix<T> r(f.rows(), f.cols());
  for (index_t j = 0; j < f.cols(); ++j) {
    for (index_t i = 0; i <= std::min(j, f.rows() - 1); ++i) r(i, j) = f(i, j);
  }
  return r;
}

/// Checks A P = Q R, and that from step `fixed` on the pivot had the largest norm, both relative to
/// `size`.
template <scalar T>
void check_pivoted(const matrix<T>& a, const pivoted_factors<T>& by, index_t fixed, double size) {
  const index_t m = a.rows(), n = a.cols();
  const double bound = 30 * eps<T> * static_cast<double>(m + n + 8) * size;
  auto sorted = by.pivots;
  std::sort(sorted.begin(), sorted.end());
  matrix<T> moved(m, n);
  for (index_t j = 0; j < n; ++j) {
    ASSERT_EQ(sorted[static_cast<std::size_t>(j)], j);
    const index_t from = by.pivots[static_cast<std::size_t>(j)];
    std::copy_n(a.view().column(from), m, moved.view().column(j));
  }
  const matrix<T> r = upper_part(by.f);
  matrix<T> qr = r;
  ormqr<T>(side::left, op::none, by.f.view(), by.tau, qr.view());
  EXPECT_LE(distance(qr, moved), bound) << m << " x " << n;
  for (index_t j = 0; j < n; ++j) {
    double rest = 0;  // square of the norm of column j from row k on
    for (index_t k = std::min(j, m - 1); k >= fixed; --k) {
      rest += std::norm(r(k, j));
      EXPECT_LE(std::sqrt(rest), std::abs(r(k, k)) * (1 + 100 * std::sqrt(eps<T>)) + bound)
          << k << ' ' << j << " of " << m << " x " << n;
    }
  }
}

template <class T>
class PivotedQr : public ::testing::Test {
 protected:
  std::mt19937 random{31415};
};
TYPED_TEST_SUITE(PivotedQr, scalars);

TYPED_TEST(PivotedQr, PivotsAreTheLargestColumns) {
  using T = TypeParam;
  for (const auto& [m, n] : {pivoting_shape{0, 3},
                             {3, 0},
                             {1, 1},
                             {5, 9},
                             {9, 5},
                             {70, 71},
                             {71, 90},
                             {160, 100},
                             {100, 160}}) {
    const auto a = random_matrix<T>(m, n, this->random);
    check_pivoted(a, pivoted_factors<T>(a), 0, 1);
  }
}

TYPED_TEST(PivotedQr, DependentAndGradedColumns) {
  using T = TypeParam;
  using R = real<T>;
  for (const index_t n : {40, 120}) {
    const index_t rank = n / 4;
    const auto low =
        product(random_matrix<T>(n, rank, this->random), random_matrix<T>(rank, n, this->random));
    const pivoted_factors<T> by(low);
    check_pivoted(low, by, 0, static_cast<double>(n));
    EXPECT_LE(std::abs(by.f(rank, rank)), 100 * eps<T> * static_cast<double>(n * n));
    // Rows that shrink fast: the norms lose all their digits again and again.
    auto graded = random_matrix<T>(n, n, this->random);
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < n; ++i) {
        graded(i, j) *= static_cast<R>(std::pow(2.0, -static_cast<double>(std::min(i, n / 2))));
      }
    }
    check_pivoted(graded, pivoted_factors<T>(graded), 0, 1);
  }
}

TYPED_TEST(PivotedQr, FixedColumnsStayInFront) {
  using T = TypeParam;
  const auto a = random_matrix<T>(90, 80, this->random);
  for (const index_t fixed : {1, 33, 80}) {
    const pivoted_factors<T> by(a, fixed);
    for (index_t j = 0; j < fixed; ++j) EXPECT_EQ(by.pivots[static_cast<std::size_t>(j)], j);
    check_pivoted(a, by, fixed, 1);
  }
}

TYPED_TEST(PivotedQr, ResultsDoNotDependOnWorkers) {
  using T = TypeParam;
  const auto a = random_matrix<T>(330, 320, this->random);
  const pivoted_factors<T> alone(a);
  runtime rt{host(3)};
  rt.run([&] {
    const pivoted_factors<T> shared(a);
    EXPECT_EQ(distance(alone.f, shared.f), 0);
    EXPECT_EQ(alone.pivots, shared.pivots);
    EXPECT_EQ(alone.tau, shared.tau);
  });
}

TYPED_TEST(PivotedQr, NanEnds) {
  using T = TypeParam;
  for (const index_t n : {10, 90}) {
    for (const real<T> bad :
         {std::numeric_limits<real<T>>::quiet_NaN(), std::numeric_limits<real<T>>::infinity()}) {
      auto a = random_matrix<T>(n, n, this->random);
      a(n / 2, n / 2) = bad;
      auto sorted = pivoted_factors<T>(a).pivots;
      std::sort(sorted.begin(), sorted.end());
      for (index_t j = 0; j < n; ++j) EXPECT_EQ(sorted[static_cast<std::size_t>(j)], j);
    }
  }
}

TYPED_TEST(PivotedQr, LqOfAnyShape) {
  using T = TypeParam;
  for (const auto& [m, n] : {pivoting_shape{0, 3}, {3, 0}, {1, 1}, {4, 9}, {9, 4}, {60, 110}}) {
    const auto a = random_matrix<T>(m, n, this->random);
    const index_t k = std::min(m, n);
    const double bound = 30 * eps<T> * static_cast<double>(m + n + 8);
    auto f = a;
    std::vector<T> tau(static_cast<std::size_t>(k));
    gelqf<T>(f.view(), tau);
    matrix<T> q(n, n), low(m, n);
    copy<T>(f.view().block(0, 0, k, n), q.view().block(0, 0, k, n));
    orglq<T>(q.view(), tau);
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = j; i < m; ++i) low(i, j) = f(i, j);
    }
    EXPECT_LE(distance(product(low, q), a), bound) << m << " x " << n;
    ormlq<T>(side::right, op::none, f.view(), tau, low.view());
    EXPECT_LE(distance(low, a), bound);
    // Q from either side, as it is and turned.
    for (const op how : {op::none, op::conjugate_transpose}) {
      const auto factor = applied(how, q), c = random_matrix<T>(n, n, this->random);
      auto left = c, right = c;
      ormlq<T>(side::left, how, f.view(), tau, left.view());
      EXPECT_LE(distance(left, product(factor, c)), bound);
      ormlq<T>(side::right, how, f.view(), tau, right.view());
      EXPECT_LE(distance(right, product(c, factor)), bound);
    }
  }
}

}  // namespace
}  // namespace creek::linalg

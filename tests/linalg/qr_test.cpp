// SPDX-License-Identifier: Apache-2.0
// QR, least squares and inverses: Q has orthonormal columns, Q R is the matrix, solutions solve.
#include <gtest/gtest.h>

#include <vector>

#include <creek/core/error.hpp>
#include <creek/host.hpp>
#include <creek/linalg/cholesky.hpp>
#include <creek/linalg/inverse.hpp>
#include <creek/linalg/lu.hpp>
#include <creek/linalg/qr.hpp>
#include <creek/tasking.hpp>

#include "random_matrix.hpp"
#include "support/few_cases.hpp"

namespace creek::linalg {
namespace {

using namespace creek::linalg::testing;

template <class T>
class Qr : public ::testing::Test {
 protected:
  std::mt19937 random{4711};

  matrix<T> any(index_t rows, index_t cols) { return random_matrix<T>(rows, cols, random); }
  static matrix<T> identity(index_t n) {
    matrix<T> i(n, n);
    for (index_t j = 0; j < n; ++j) i(j, j) = T{1};
    return i;
  }
  static double bound(index_t n) { return 16 * eps<T> * static_cast<double>(n + 8); }

  void check(index_t m, index_t n, index_t block) {
    const auto before = any(m, n);
    auto a = before;
    const index_t k = std::min(m, n);
    std::vector<T> tau(static_cast<std::size_t>(k));
    geqrf(a.view(), std::span<T>(tau), {.block = block});
    matrix<T> r(k, n);
    for (index_t j = 0; j < n; ++j) std::copy_n(a.view().column(j), std::min(j + 1, k), &r(0, j));
    for (index_t i = 0; i < k; ++i) EXPECT_EQ(std::imag(r(i, i)), 0);
    matrix<T> q(a.view().columns(0, k));
    orgqr(q.view(), std::span<const T>(tau));
    EXPECT_LE(distance(product(applied(op::conjugate_transpose, q), q), identity(k)), bound(m));
    EXPECT_LE(distance(product(q, r), before), bound(m)) << m << " x " << n << " by " << block;
    check_applied(a, tau);
  }

  /// Compares op(Q) from both sides with Q itself.
  void check_applied(const matrix<T>& a, const std::vector<T>& tau) {
    const index_t m = a.rows();
    const auto turn = op::conjugate_transpose;
    matrix<T> q = identity(m);
    ormqr(side::left, op::none, a.view(), std::span<const T>(tau), q.view());
    for (const op how : {op::none, turn}) {
      const auto wanted = applied(how, q);
      const auto c = any(m, 13), d = any(13, m);
      auto left = c, right = d;
      ormqr(side::left, how, a.view(), std::span<const T>(tau), left.view());
      ormqr(side::right, how, a.view(), std::span<const T>(tau), right.view());
      EXPECT_LE(distance(left, product(wanted, c)), bound(m));
      EXPECT_LE(distance(right, product(d, wanted)), bound(m));
    }
  }
};
TYPED_TEST_SUITE(Qr, scalars);

TYPED_TEST(Qr, FactorsAreOrthogonalAndTriangular) {
  const index_t shapes[][3] = {{1, 1, 0},     {1, 5, 0},     {5, 1, 0},    {8, 8, 0},
                               {33, 33, 16},  {150, 150, 0}, {200, 70, 0}, {70, 200, 32},
                               {190, 120, 7}, {119, 200, 0}};
  for (const unsigned workers : {0U, 1U, 3U}) {
    const auto all = [&] {
      for (const auto& [m, n, block] : shapes) this->check(m, n, block);
    };
    if (workers == 0) {
      all();
    } else {
      runtime rt{host(workers)};
      rt.run(all);
    }
  }
}

TYPED_TEST(Qr, VectorsOfExtremeLengthKeepTheirNorm) {
  using T = TypeParam;
  for (const real<T> scale :
       {std::numeric_limits<real<T>>::max() / 64, std::numeric_limits<real<T>>::min() * 64}) {
    auto a = this->any(20, 3);
    auto plain = a;
    for (index_t j = 0; j < 3; ++j) {
      for (index_t i = 0; i < 20; ++i) a(i, j) *= scale;
    }
    std::vector<T> tau(3), plain_tau(3);
    geqrf(a.view(), std::span<T>(tau));
    geqrf(plain.view(), std::span<T>(plain_tau));
    for (index_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(std::real(a(j, j) / scale), std::real(plain(j, j)), 100 * eps<T>);
    }
  }
}

TYPED_TEST(Qr, ZeroColumnsHaveNoReflector) {
  using T = TypeParam;
  matrix<T> a(40, 40);
  std::vector<T> tau(40, T{9});
  geqrf(a.view(), std::span<T>(tau));
  for (const T& t : tau) EXPECT_EQ(t, T{});
}

/// QR by Householder's elimination of one column after the other, with LAPACK's signs.
template <scalar T>
void eliminate_plainly(matrix<T>& a, std::vector<T>& tau) {
  for (index_t j = 0; j < a.cols(); ++j) {
    double sum = 0;
    for (index_t i = j + 1; i < a.rows(); ++i) sum += std::norm(std::complex<double>(a(i, j)));
    const T alpha = a(j, j);
    const auto length = static_cast<real<T>>(std::sqrt(sum + std::norm(alpha)));
    const real<T> beta = std::real(alpha) < 0 ? length : -length;
    const T t = (beta - alpha) / beta;
    tau[static_cast<std::size_t>(j)] = t;
    a(j, j) = beta;
    for (index_t i = j + 1; i < a.rows(); ++i) a(i, j) /= alpha - beta;
    for (index_t c = j + 1; c < a.cols(); ++c) {
      T dot = a(j, c);
      for (index_t i = j + 1; i < a.rows(); ++i) dot += conjugated(a(i, j)) * a(i, c);
      dot *= conjugated(t);
      a(j, c) -= dot;
      for (index_t i = j + 1; i < a.rows(); ++i) a(i, c) -= a(i, j) * dot;
    }
  }
}

/// Shapes that are factored by pieces of rows, or nearly so, on some instruction set.
constexpr std::pair<index_t, index_t> tall_shapes[] = {
    {60000, 1}, {23000, 3}, {10000, 8}, {8200, 9},  {1343, 50},
    {2701, 50}, {2500, 49}, {5000, 33}, {4096, 64}, {2500, 128}};

TYPED_TEST(Qr, TallMatricesHaveTheReflectorsOfEachColumn) {
  using T = TypeParam;
  runtime rt{host(2)};
  for (const auto& [m, n] : tall_shapes) {
    if (creek::support::few_cases && n == 64) continue;
    const auto before = this->any(m, n);
    auto a = before, wanted = before;
    std::vector<T> tau(static_cast<std::size_t>(n)), wanted_tau(tau);
    rt.run([&] { geqrf(a.view(), std::span<T>(tau)); });
    eliminate_plainly(wanted, wanted_tau);
    const double bound = 32 * eps<T> * std::sqrt(static_cast<double>(m));
    EXPECT_LE(distance(a, wanted), bound) << m << " x " << n;
    for (index_t j = 0; j < n; ++j) {
      EXPECT_EQ(std::imag(a(j, j)), 0);
      const auto at = static_cast<std::size_t>(j);
      EXPECT_LE(std::abs(tau[at] - wanted_tau[at]), bound);
    }
    // Q^H A is R again, and Q R is A, by reflectors that are applied by rows.
    matrix<T> r(m, n);
    for (index_t j = 0; j < n; ++j) std::copy_n(a.view().column(j), j + 1, &r(0, j));
    auto turned = before, back = r;
    rt.run([&] {
      ormqr(side::left, op::conjugate_transpose, a.view(), std::span<const T>(tau), turned.view());
      ormqr(side::left, op::none, a.view(), std::span<const T>(tau), back.view());
    });
    EXPECT_LE(distance(turned, r), 8 * bound) << m << " x " << n;
    EXPECT_LE(distance(back, before), 8 * bound) << m << " x " << n;
  }
}

TYPED_TEST(Qr, TallMatricesHaveTheSameBitsOnAnyWorkers) {
  for (const auto& [m, n] : {std::pair<index_t, index_t>{9001, 20}, {9000, 64}}) {
    const auto before = this->any(m, n), right = this->any(m, 2);
    auto alone = before, x = right;
    ASSERT_EQ(gels(op::none, alone.view(), x.view()), 0);
    for (const unsigned workers : {1U, 2U, 3U}) {
      auto a = before, y = right;
      runtime rt{host(workers)};
      ASSERT_EQ(rt.run([&] { return gels(op::none, a.view(), y.view()); }), 0);
      EXPECT_EQ(distance(a, alone), 0) << workers;
      EXPECT_EQ(distance(y, x), 0) << workers;
    }
  }
}

TYPED_TEST(Qr, TallMatricesMayLackRankAndHaveColumnsOfAnyScale) {
  using T = TypeParam;
  using R = real<T>;
  const index_t m = 6000, n = 30;
  const auto plain = this->any(m, n);
  auto before = plain;
  const R huge = std::sqrt(std::numeric_limits<R>::max()), tiny = 1 / huge;
  for (index_t i = 0; i < m; ++i) {
    before(i, 3) = T{};
    before(i, 7) = before(i, 2);
    for (const index_t j : {5, 11}) before(i, j) *= huge;
    for (const index_t j : {6, 20}) before(i, j) *= tiny;
    if (i < m / 2) before(i, 9) = T{};
  }
  auto a = before;
  std::vector<T> tau(static_cast<std::size_t>(n));
  runtime rt{host(2)};
  rt.run([&] { geqrf(a.view(), std::span<T>(tau)); });
  matrix<T> r(n, n);
  for (index_t j = 0; j < n; ++j) std::copy_n(a.view().column(j), j + 1, &r(0, j));
  matrix<T> q(a);
  orgqr(q.view(), std::span<const T>(tau));
  EXPECT_LE(distance(product(applied(op::conjugate_transpose, q), q), this->identity(n)),
            this->bound(100));
  for (index_t i = 0; i < n; ++i) EXPECT_EQ(std::abs(r(i, 3)), 0);
  EXPECT_LE(std::abs(r(7, 7)), this->bound(m));
  // Each column has errors of its own size.
  for (const index_t j : {5, 11, 6, 20}) {
    const R scale = j == 5 || j == 11 ? tiny : huge;
    for (index_t i = 0; i < m; ++i) before(i, j) *= scale;
    for (index_t i = 0; i < n; ++i) r(i, j) *= scale;
  }
  EXPECT_LE(distance(product(q, r), before), this->bound(200));
}

TYPED_TEST(Qr, TallMatricesOfExtremeNumbersAndNaN) {
  using T = TypeParam;
  using R = real<T>;
  const index_t m = 4096, n = 40;
  const auto before = this->any(m, n);
  const auto factor = [&](R scale) {
    auto a = before;
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < m; ++i) a(i, j) *= scale;
    }
    std::vector<T> tau(static_cast<std::size_t>(n));
    geqrf(a.view(), std::span<T>(tau));
    return a;
  };
  const auto plain = factor(1);
  for (const R scale :
       {std::numeric_limits<R>::max() / 1024, std::numeric_limits<R>::min() * 1024}) {
    const auto a = factor(scale);
    for (index_t j = 0; j < n; ++j) {
      EXPECT_NEAR(std::real(a(j, j) / scale), std::real(plain(j, j)), 1e4 * eps<T>);
      EXPECT_LE(std::abs(a(m - 1, j) - plain(m - 1, j)), 100 * eps<T>);
    }
  }
  auto spoilt = before;
  spoilt(3000, 17) = std::numeric_limits<R>::quiet_NaN();
  std::vector<T> tau(static_cast<std::size_t>(n));
  geqrf(spoilt.view(), std::span<T>(tau));
  EXPECT_TRUE(std::isnan(std::abs(spoilt(17, 17))));
  EXPECT_TRUE(std::isnan(std::abs(spoilt(39, 39))));
}

TYPED_TEST(Qr, LeastSquaresAreOrthogonalToTheColumns) {
  using T = TypeParam;
  runtime rt{host(2)};
  rt.run([&] {
    for (const bool wide : {false, true}) {
      for (const op how : {op::none, op::conjugate_transpose}) {
        const index_t m = wide ? 60 : 140, n = wide ? 140 : 60;
        const auto before = this->any(m, n);
        const auto equations = applied(how, before);
        const auto b = this->any(equations.rows(), 4);
        matrix<T> x(140, 4);
        copy<T>(b.view(), x.view().block(0, 0, b.rows(), 4));
        auto a = before;
        ASSERT_EQ(gels(how, a.view(), x.view()), 0);
        const matrix<T> solution(const_view<T>(x.view().block(0, 0, equations.cols(), 4)));
        const auto left_over = sum<T>(T{1}, product(equations, solution), T{-1}, b);
        const auto normal = product(applied(op::conjugate_transpose, equations), left_over);
        EXPECT_LE(distance(normal, matrix<T>(equations.cols(), 4)), 40 * this->bound(140));
        if (equations.rows() < equations.cols()) {
          // The shortest of all solutions is a combination of the equations.
          EXPECT_LE(distance(left_over, matrix<T>(60, 4)), 10 * this->bound(140));
          auto again = applied(op::conjugate_transpose, equations);
          auto weights = solution;
          ASSERT_EQ(gels(op::none, again.view(), weights.view()), 0);
          double rest = 0;
          for (index_t i = 60; i < 140; ++i) rest = std::max<double>(rest, std::abs(weights(i, 0)));
          EXPECT_LE(rest, 10 * this->bound(140));
        }
      }
    }
  });
}

TYPED_TEST(Qr, WideMatricesAreNotSolvedByTheirQr) {
  using T = TypeParam;
  const qr<T> factors(this->any(4, 7));
  EXPECT_THROW(factors.solve(this->any(4, 1)), usage_error);
}

TYPED_TEST(Qr, RankDeficientSystemsAreNotSolved) {
  using T = TypeParam;
  auto a = this->any(30, 10);
  for (index_t i = 0; i < 30; ++i) a(i, 6) = T{};
  auto b = this->any(30, 1);
  const auto before = b;
  EXPECT_EQ(gels(op::none, a.view(), b.view()), 7);
  EXPECT_EQ(distance(b, before), 0);
}

TYPED_TEST(Qr, LeastSquaresScaleTinyAndHugeMatrices) {
  using T = TypeParam;
  using limits = std::numeric_limits<real<T>>;
  const auto a = this->any(30, 10), b = this->any(30, 2);
  auto factors = a, x = b;
  ASSERT_EQ(gels(op::none, factors.view(), x.view()), 0);
  for (const real<T> size : {limits::min(), limits::max() / 4}) {
    auto scaled = sum<T>(size, a, T{}, a), y = sum<T>(size, b, T{}, b);
    ASSERT_EQ(gels(op::none, scaled.view(), y.view()), 0);
    for (index_t i = 10; i < 30; ++i) y(i, 0) /= size;
    for (index_t i = 0; i < 30; ++i) EXPECT_LE(std::abs(y(i, 0) - x(i, 0)), 100 * this->bound(30));
  }
  matrix<T> zero(30, 10);
  EXPECT_EQ(gels(op::none, zero.view(), x.view()), 0);
  EXPECT_EQ(distance(x, matrix<T>(30, 2)), 0);
}

TYPED_TEST(Qr, InversesInvert) {
  using T = TypeParam;
  runtime rt{host(2)};
  rt.run([&] {
    for (const index_t n : {1, 24, 25, 130}) {
      auto a = this->any(n, n);
      for (index_t i = 0; i < n; ++i) a(i, i) += static_cast<real<T>>(n);
      for (const triangle stored : {triangle::lower, triangle::upper}) {
        for (const diagonal ones : {diagonal::stored, diagonal::unit}) {
          auto b = a;
          if (ones == diagonal::unit) {
            b = sum<T>(T{1} / static_cast<real<T>>(n), b, T{0}, b);
          }
          const auto t = only(stored, ones, b);
          ASSERT_EQ(trtri(stored, ones, b.view()), 0);
          EXPECT_LE(distance(product(t, only(stored, ones, b)), this->identity(n)), this->bound(n));
        }
        auto definite = sum<T>(T{1}, a, T{1}, applied(op::conjugate_transpose, a));
        auto inverse = definite;
        ASSERT_EQ(potrf(stored, inverse.view()), 0);
        ASSERT_EQ(potri(stored, inverse.view()), 0);
        for (index_t j = 0; j < n; ++j) {
          for (index_t i = 0; i < n; ++i) {
            if (i != j && (i > j) != (stored == triangle::lower)) {
              inverse(i, j) = conjugated(inverse(j, i));
            }
          }
        }
        EXPECT_LE(distance(product(definite, inverse), this->identity(n)), this->bound(n));
      }
      auto general = this->any(n, n);
      for (index_t i = 0; i < n; ++i) general(i, (i + 1) % n) += static_cast<real<T>>(n);
      auto inverse = general;
      std::vector<index_t> pivots(static_cast<std::size_t>(n));
      ASSERT_EQ(getrf(inverse.view(), std::span<index_t>(pivots)), 0);
      ASSERT_EQ(getri(inverse.view(), std::span<const index_t>(pivots)), 0);
      EXPECT_LE(distance(product(general, inverse), this->identity(n)), this->bound(n));
    }
  });
}

TYPED_TEST(Qr, SingularMatricesHaveNoInverse) {
  using T = TypeParam;
  auto a = this->any(9, 9);
  a(5, 5) = T{};
  const auto before = a;
  EXPECT_EQ(trtri(triangle::upper, diagonal::stored, a.view()), 6);
  EXPECT_EQ(distance(a, before), 0);
}

}  // namespace
}  // namespace creek::linalg

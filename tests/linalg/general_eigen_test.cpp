// SPDX-License-Identifier: Apache-2.0
// Eigenvectors of general matrices: A V = V W and U^H A = W U^H, norms of 1, real largest elements,
// defective and badly scaled matrices, vectors that would overflow.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/host.hpp>
#include <creek/linalg/schur.hpp>
#include <creek/tasking.hpp>

#include "random_matrix.hpp"
#include "support/few_cases.hpp"

namespace creek::linalg {
namespace {

using namespace creek::linalg::testing;

template <class T>
class GeneralEigen : public ::testing::Test {
 protected:
  using R = real<T>;
  using complex = std::complex<R>;
  std::mt19937 random{77};

  static double bound(index_t n) { return 20 * eps<T> * static_cast<double>(n + 10); }
  static matrix<complex> widened(const matrix<T>& a) {
    matrix<complex> wide(a.rows(), a.cols());
    for (index_t j = 0; j < a.cols(); ++j) {
      for (index_t i = 0; i < a.rows(); ++i) wide(i, j) = complex(a(i, j));
    }
    return wide;
  }
  /// Returns the vectors, which a real matrix has in parts.
  static matrix<complex> vectors(const matrix<T>& v, const std::vector<complex>& w) {
    matrix<complex> made = widened(v);
    if constexpr (!is_complex<T>) {
      for (index_t j = 0; j + 1 < v.cols(); ++j) {
        if (w[static_cast<std::size_t>(j)].imag() == 0) continue;
        for (index_t i = 0; i < v.rows(); ++i) {
          made(i, j) = {v(i, j), v(i, j + 1)};
          made(i, j + 1) = std::conj(made(i, j));
        }
        ++j;
      }
    }
    return made;
  }
  static double largest(const matrix<complex>& a) {
    return distance(a, matrix<complex>(a.rows(), a.cols()));
  }

  static void expect_vectors(const matrix<complex>& a, const matrix<complex>& v,
                             const std::vector<complex>& w, bool turned) {
    const index_t n = a.rows();
    const matrix<complex> av = product(turned ? applied(op::conjugate_transpose, a) : a, v);
    const double size = largest(a) * static_cast<double>(n) + 1e-300;
    for (index_t j = 0; j < n; ++j) {
      const complex lambda =
          turned ? std::conj(w[static_cast<std::size_t>(j)]) : w[static_cast<std::size_t>(j)];
      double square = 0, error = 0, most = 0;
      for (index_t i = 0; i < n; ++i) {
        square += std::norm(std::complex<double>(v(i, j)));
        error = std::max<double>(error, std::abs(av(i, j) - lambda * v(i, j)));
        most = std::max<double>(most, std::abs(v(i, j)));
      }
      // One of the largest elements is real.
      double nearest = 1;
      for (index_t i = 0; i < n; ++i) {
        if (std::abs(v(i, j)) < most - bound(n)) continue;
        nearest = std::min<double>(nearest, std::abs(v(i, j).imag()));
      }
      EXPECT_NEAR(square, 1, bound(n)) << j;
      EXPECT_LE(error, bound(n) * size) << j;
      EXPECT_LE(nearest, bound(n)) << j;
    }
  }

  void check(const matrix<T>& a) {
    const index_t n = a.rows();
    std::vector<complex> w(static_cast<std::size_t>(n));
    matrix<T> work = a, left(n, n), right(n, n);
    ASSERT_EQ(geev<T>(work.view(), w, left.view(), right.view()), 0) << n;
    const matrix<complex> wide = widened(a);
    expect_vectors(wide, vectors(right, w), w, false);
    expect_vectors(wide, vectors(left, w), w, true);

    std::vector<complex> other(w.size());
    matrix<T> again = a, only(n, n);
    ASSERT_EQ(geev<T>(again.view(), other, {}, only.view()), 0);
    EXPECT_EQ(other, w);
    EXPECT_EQ(distance(only, right), 0);
    again = a;
    ASSERT_EQ(geev<T>(again.view(), other, only.view(), {}), 0);
    EXPECT_EQ(distance(only, left), 0);
    again = a;
    ASSERT_EQ(geev<T>(again.view(), other), 0);
    complex sum{}, trace{};
    for (index_t i = 0; i < n; ++i) {
      sum += other[static_cast<std::size_t>(i)];
      trace += a(i, i);
    }
    EXPECT_LE(std::abs(sum - trace), bound(n) * (largest(wide) * static_cast<double>(n) + 1e-300));
  }
};
TYPED_TEST_SUITE(GeneralEigen, scalars);

TYPED_TEST(GeneralEigen, OfRandomMatrices) {
  for (const index_t n : {1, 2, 3, 4, 9, 32, 33, 63, 64, 65, 97, 130, 150}) {
    if (creek::support::few_cases && n > 100) continue;
    this->check(random_matrix<TypeParam>(n, n, this->random));
  }
}

TYPED_TEST(GeneralEigen, OfSpecialMatrices) {
  using T = TypeParam;
  using R = real<T>;
  for (const index_t n : {6, 40, 101}) {
    matrix<T> upper = random_matrix<T>(n, n, this->random), jordan(n, n), cycle(n, n);
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = j + 1; i < n; ++i) upper(i, j) = T{};
      jordan(j, j) = T{3};
      if (j > 0) jordan(j - 1, j) = T{1};
      cycle((j + 1) % n, j) = T{1};
    }
    this->check(upper);
    this->check(applied(op::transpose, upper));
    this->check(jordan);
    this->check(cycle);
    this->check(matrix<T>(n, n));
    // Symmetric, and with blocks of conjugate pairs far apart.
    const matrix<T> any = random_matrix<T>(n, n, this->random);
    this->check(sum<T>(T{1}, any, T{1}, applied(op::conjugate_transpose, any)));
    matrix<T> pairs = upper;
    for (index_t j = 0; j + 1 < n; j += 2) {
      pairs(j + 1, j) = -pairs(j, j + 1) * R(0.3);
      pairs(j, j) = pairs(j + 1, j + 1) = T{static_cast<R>(j)};
    }
    this->check(pairs);
  }
}

TYPED_TEST(GeneralEigen, OfTinyAndHugeMatrices) {
  using T = TypeParam;
  using R = real<T>;
  for (const index_t n : {7, 70}) {
    for (const int power :
         {std::numeric_limits<R>::min_exponent + 3, std::numeric_limits<R>::max_exponent - 12}) {
      matrix<T> a = random_matrix<T>(n, n, this->random), plain = a;
      for (index_t j = 0; j < n; ++j) {
        for (index_t i = 0; i < n; ++i) a(i, j) *= std::ldexp(R{1}, power);
      }
      std::vector<std::complex<R>> w(static_cast<std::size_t>(n));
      matrix<T> right(n, n);
      ASSERT_EQ(geev<T>(a.view(), w, {}, right.view()), 0) << power;
      for (auto& each : w) each *= std::ldexp(R{1}, -power);
      this->expect_vectors(this->widened(plain), this->vectors(right, w), w, false);
    }
  }
}

/// Substitution would give elements far beyond the largest number.
TYPED_TEST(GeneralEigen, VectorsThatGrowAreScaled) {
  using T = TypeParam;
  using R = real<T>;
  for (const index_t n : {30, 90, 200}) {
    matrix<T> a(n, n), v(n, n);
    for (index_t j = 0; j < n; ++j) {
      v(j, j) = T{1};
      a(j, j) = T{1 + static_cast<R>(j) * R(1e-3)};
      for (index_t i = 0; i < j; ++i) a(i, j) = T{R(1e6) * static_cast<R>(1 + (i + j) % 3)};
    }
    for (const side which : {side::right, side::left}) {
      matrix<T> got = v;
      trevc<T>(which, a.view(), got.view());
      for (index_t j = 0; j < n; ++j) {
        for (index_t i = 0; i < n; ++i) {
          ASSERT_TRUE(std::isfinite(std::abs(got(i, j)))) << n << ' ' << i << ' ' << j;
        }
      }
      const matrix<T> turned = which == side::right ? a : applied(op::conjugate_transpose, a);
      const matrix<T> left = product(turned, got);
      for (index_t j = 0; j < n; ++j) {
        R most = 0, error = 0;
        for (index_t i = 0; i < n; ++i) {
          most = std::max(most, std::abs(got(i, j)));
          error = std::max(error, std::abs(left(i, j) - a(j, j) * got(i, j)));
        }
        EXPECT_GT(most, 0);
        EXPECT_LE(error, 1e7 * static_cast<double>(n) * this->bound(n) * most);
      }
    }
  }
}

TYPED_TEST(GeneralEigen, AreTheSameOnAnyWorkers) {
  using T = TypeParam;
  constexpr index_t n = creek::support::few_cases ? 160 : 203;
  const matrix<T> a = random_matrix<T>(n, n, this->random);
  std::vector<std::complex<real<T>>> w(n);
  matrix<T> work = a, left(n, n), right(n, n);
  ASSERT_EQ(geev<T>(work.view(), w, left.view(), right.view()), 0);
  for (const unsigned workers : {1U, 2U, 3U}) {
    runtime rt{host(workers)};
    auto other = w;
    matrix<T> again = a, l(n, n), r(n, n);
    rt.run([&] { ASSERT_EQ(geev<T>(again.view(), other, l.view(), r.view()), 0); });
    EXPECT_EQ(other, w);
    EXPECT_EQ(distance(l, left), 0) << workers;
    EXPECT_EQ(distance(r, right), 0) << workers;
  }
}

TYPED_TEST(GeneralEigen, OfWhatIsNotFiniteEnds) {
  using T = TypeParam;
  using R = real<T>;
  for (const R odd : {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity()}) {
    for (const index_t n : {1, 2, 5, 40, creek::support::few_cases ? 80 : 120}) {
      matrix<T> a = random_matrix<T>(n, n, this->random), right(n, n);
      a(n / 2, n / 3) = odd;
      std::vector<std::complex<R>> w(static_cast<std::size_t>(n));
      EXPECT_GE(geev<T>(a.view(), w, {}, right.view()), 0);
    }
  }
}

TYPED_TEST(GeneralEigen, RefusesShapesThatDoNotFit) {
  using T = TypeParam;
  matrix<T> a(4, 4), wide(4, 5), v(3, 4);
  std::vector<std::complex<real<T>>> w(4), few(3);
  EXPECT_THROW((void)geev<T>(wide.view(), w), usage_error);
  EXPECT_THROW((void)geev<T>(a.view(), few), usage_error);
  EXPECT_THROW((void)geev<T>(a.view(), w, v.view()), usage_error);
  EXPECT_THROW(trevc<T>(side::right, a.view(), wide.view()), usage_error);
}

}  // namespace
}  // namespace creek::linalg

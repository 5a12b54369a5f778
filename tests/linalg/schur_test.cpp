// SPDX-License-Identifier: Apache-2.0
// Schur forms: U is unitary and U T U^H the matrix, T is in standard form, known spectra are found,
// matrices that are hard for the QR iteration, and such that it cannot do, end it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <span>
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
class Schur : public ::testing::Test {
 protected:
  using R = real<T>;
  using complex = std::complex<R>;
  std::mt19937 random{31};

  static matrix<T> identity(index_t n) {
    matrix<T> one(n, n);
    for (index_t i = 0; i < n; ++i) one(i, i) = T{1};
    return one;
  }
  static double bound(index_t n) { return 10 * eps<T> * static_cast<double>(n + 10); }
  static double norm(const matrix<T>& a) {
    double sum = 0;
    for (index_t j = 0; j < a.cols(); ++j) {
      for (index_t i = 0; i < a.rows(); ++i) sum += std::norm(std::complex<double>(a(i, j)));
    }
    return std::sqrt(sum);
  }
  matrix<T> hessenberg(index_t n) {
    matrix<T> h = random_matrix<T>(n, n, random);
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = j + 2; i < n; ++i) h(i, j) = T{};
    }
    return h;
  }
  static std::vector<complex> places(index_t n) {
    return std::vector<complex>(static_cast<std::size_t>(n));
  }

  static void expect_standard(const matrix<T>& t, const std::vector<complex>& w) {
    const index_t n = t.rows();
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = j + 2; i < n; ++i) ASSERT_EQ(t(i, j), T{});
      const complex here = w[static_cast<std::size_t>(j)];
      if (j + 1 == n || t(j + 1, j) == T{}) {
        EXPECT_EQ(complex(t(j, j)), here);
        continue;
      }
      ASSERT_FALSE(is_complex<T>);
      EXPECT_EQ(t(j, j), t(j + 1, j + 1));
      EXPECT_LT(std::real(t(j, j + 1)) * std::real(t(j + 1, j)), 0);
      EXPECT_GT(here.imag(), 0);
      EXPECT_EQ(std::conj(here), w[static_cast<std::size_t>(j) + 1]);
      if (j + 2 < n) {
        EXPECT_EQ(t(j + 2, j + 1), T{}) << "blocks do not overlap";
      }
      ++j;
    }
  }

  /// Product of large matrices, for which that by the definition takes seconds.
  static matrix<T> multiplied(const matrix<T>& a, const matrix<T>& b) {
    matrix<T> c(a.rows(), b.cols());
    gemm(op::none, op::none, T{1}, a.view(), b.view(), T{0}, c.view());
    return c;
  }
  void expect_similar(const matrix<T>& h, const matrix<T>& t, const matrix<T>& z, double factor) {
    const index_t n = h.rows();
    const matrix<T> turned = applied(op::conjugate_transpose, z);
    EXPECT_LE(distance(multiplied(turned, z), identity(n)), factor * bound(n)) << n;
    const double size = std::max(norm(h), 1e-30);
    EXPECT_LE(norm(sum<T>(T{1}, multiplied(z, multiplied(t, turned)), T{-1}, h)),
              factor * bound(n) * size)
        << n;
  }

  /// Checks the Schur form.
  void check(const matrix<T>& h, active_rows active, double factor = 1) {
    const index_t n = h.rows();
    matrix<T> t = h, z = identity(n);
    auto w = places(n);
    ASSERT_EQ(hseqr<T>(t.view(), active, true, w, z.view()), 0) << n;
    expect_standard(t, w);
    expect_similar(h, t, z, factor);
  }
  void check(const matrix<T>& h) { check(h, {0, h.rows()}); }

  /// Returns the eigenvalues without the Schur form, sorted.
  static std::vector<complex> eigenvalues(const matrix<T>& h) {
    matrix<T> t = h;
    auto w = places(h.rows());
    EXPECT_EQ(hseqr<T>(t.view(), {0, h.rows()}, false, w), 0);
    sort(w);
    return w;
  }
  static void sort(std::vector<complex>& w) {
    std::sort(w.begin(), w.end(), [](complex a, complex b) {
      return std::pair(a.real(), a.imag()) < std::pair(b.real(), b.imag());
    });
  }
};
TYPED_TEST_SUITE(Schur, scalars);

TYPED_TEST(Schur, OfRandomMatrices) {
  for (const index_t n : {0, 1, 2, 3, 4, 7, 15, 16, 30, 49, 75, 76, 77, 100, 150, 151, 233}) {
    if (creek::support::few_cases && n > 200) continue;
    this->check(this->hessenberg(n));
  }
}

TYPED_TEST(Schur, OfLargeMatricesWithManyShifts) {
  this->check(this->hessenberg(support::few_cases ? 260 : 610));
}

TYPED_TEST(Schur, OfActiveRows) {
  using T = TypeParam;
  for (const index_t n : {20, 120}) {
    for (const active_rows active : {active_rows{3, n - 4}, active_rows{5, 6}, active_rows{0, 7}}) {
      matrix<T> h = this->hessenberg(n);
      for (index_t i = 1; i < n; ++i) {
        if (i <= active.first || i >= active.end) h(i, i - 1) = T{};
      }
      this->check(h, active);
    }
  }
}

TYPED_TEST(Schur, OfTriangularAndZeroMatrices) {
  using T = TypeParam;
  for (const index_t n : {5, 90}) {
    matrix<T> h = this->hessenberg(n);
    for (index_t i = 1; i < n; ++i) h(i, i - 1) = T{};
    const matrix<T> before = h;
    this->check(h);
    matrix<T> t = h;
    auto w = this->places(n);
    ASSERT_EQ(hseqr<T>(t.view(), {0, n}, true, w), 0);
    EXPECT_EQ(distance(t, before), 0) << "a Schur form stays";
    this->check(matrix<T>(n, n));
    this->check(this->identity(n));
  }
}

TYPED_TEST(Schur, OfTinyAndHugeMatrices) {
  using T = TypeParam;
  using R = real<T>;
  const int most = std::numeric_limits<R>::max_exponent / 2 - 12;
  for (const index_t n : {12, 90}) {
    for (const int power : {-most, most}) {
      matrix<T> h = this->hessenberg(n);
      const matrix<T> plain = h;
      for (index_t j = 0; j < n; ++j) {
        for (index_t i = 0; i < n; ++i) h(i, j) *= std::ldexp(R{1}, power);
      }
      matrix<T> t = h, z = this->identity(n);
      auto w = this->places(n);
      ASSERT_EQ(hseqr<T>(t.view(), {0, n}, true, w, z.view()), 0) << power;
      for (index_t j = 0; j < n; ++j) {
        for (index_t i = 0; i < n; ++i) t(i, j) *= std::ldexp(R{1}, -power);
      }
      const matrix<T> turned = applied(op::conjugate_transpose, z);
      EXPECT_LE(distance(product(z, product(t, turned)), plain), this->bound(n) * 10);
    }
  }
}

TYPED_TEST(Schur, FindsKnownSpectra) {
  using T = TypeParam;
  using R = real<T>;
  // A permutation that shifts cyclically has the roots of unity, on which plain QR stagnates.
  for (const index_t n : {8, 100, 180}) {
    if (creek::support::few_cases && n > 150) continue;
    matrix<T> h(n, n);
    for (index_t i = 0; i < n; ++i) h((i + 1) % n, i) = T{1};
    h(0, n - 1) = T{1};
    this->check(h, {0, n});
    const auto w = this->eigenvalues(h);
    for (const auto& each : w) {
      EXPECT_NEAR(std::abs(each), 1, this->bound(n) * 20);
    }
    for (index_t k = 0; k < n; ++k) {
      const double angle =
          2 * 3.14159265358979323846 * static_cast<double>(k) / static_cast<double>(n);
      const std::complex<R> root(static_cast<R>(std::cos(angle)), static_cast<R>(std::sin(angle)));
      R nearest = 9;
      for (const auto& each : w) nearest = std::min(nearest, std::abs(each - root));
      EXPECT_LT(nearest, this->bound(n) * 20) << k;
    }
  }
  // The companion matrix of (x - 1) ... (x - 5).
  const R coefficients[] = {15, -85, 225, -274, 120};
  matrix<T> companion(5, 5);
  for (index_t j = 0; j < 5; ++j) companion(0, j) = coefficients[j];
  for (index_t i = 1; i < 5; ++i) companion(i, i - 1) = T{1};
  this->check(companion);
  const auto w = this->eigenvalues(companion);
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_NEAR(w[k].real(), static_cast<double>(k + 1), 1e5 * eps<T>);
    EXPECT_NEAR(w[k].imag(), 0, 1e5 * eps<T>);
  }
}

TYPED_TEST(Schur, OfDefectiveAndNonnormalMatrices) {
  using T = TypeParam;
  using R = real<T>;
  for (const index_t n : {6, 60, 130}) {
    matrix<T> jordan(n, n), grcar(n, n), graded(n, n);
    for (index_t i = 0; i < n; ++i) {
      jordan(i, i) = T{2};
      if (i > 0) jordan(i - 1, i) = T{1};
      if (i > 0) grcar(i, i - 1) = T{-1};
      for (index_t j = i; j < std::min(i + 4, n); ++j) grcar(i, j) = T{1};
    }
    // Not upper triangular: the transposed Jordan block.
    this->check(applied(op::transpose, jordan));
    this->check(grcar);
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < std::min(j + 2, n); ++i) {
        graded(i, j) = random_scalar<T>(this->random) *
                       std::ldexp(R{1}, -static_cast<int>(std::min<index_t>(40, (i + j) / 3)));
      }
    }
    this->check(graded);
  }
}

TYPED_TEST(Schur, IsTheSameOnAnyWorkers) {
  using T = TypeParam;
  constexpr index_t n = support::few_cases ? 220 : 310;
  const matrix<T> before = this->hessenberg(n);
  matrix<T> first = before, z = this->identity(n);
  auto w = this->places(n);
  ASSERT_EQ(hseqr<T>(first.view(), {0, n}, true, w, z.view()), 0);
  for (const unsigned workers : {1U, 2U, 3U}) {
    runtime rt{host(workers)};
    matrix<T> t = before, q = this->identity(n);
    auto other = this->places(n);
    rt.run([&] { ASSERT_EQ(hseqr<T>(t.view(), {0, n}, true, other, q.view()), 0); });
    EXPECT_EQ(distance(t, first), 0) << workers;
    EXPECT_EQ(distance(q, z), 0) << workers;
    EXPECT_EQ(other, w) << workers;
  }
}

TYPED_TEST(Schur, OfWhatIsNotFiniteEnds) {
  using T = TypeParam;
  using R = real<T>;
  for (const R odd : {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity()}) {
    for (const index_t n : {2, 3, 10, 60, creek::support::few_cases ? 80 : 200}) {
      matrix<T> h = this->hessenberg(n);
      h(n / 2, n - 1) = odd;
      matrix<T> z = this->identity(n);
      auto w = this->places(n);
      EXPECT_EQ(hseqr<T>(h.view(), {0, n}, true, w, z.view()), n);
    }
  }
}

TYPED_TEST(Schur, OfGeneralMatricesMovesSelectedEigenvaluesToTheTop) {
  using T = TypeParam;
  for (const index_t n : {1, 2, 5, 33, 64, 65, 120}) {
    const matrix<T> a = random_matrix<T>(n, n, this->random);
    matrix<T> t = a, v(n, n);
    auto w = this->places(n);
    ASSERT_EQ(gees<T>(t.view(), w, v.view()), 0);
    this->expect_standard(t, w);
    this->expect_similar(a, t, v, 1);

    const auto selected = std::make_unique<bool[]>(static_cast<std::size_t>(n));
    std::ptrdiff_t wanted = 0;
    for (index_t i = 0; i < n; ++i) {
      selected[static_cast<std::size_t>(i)] = w[static_cast<std::size_t>(i)].real() > 0;
      wanted += selected[static_cast<std::size_t>(i)];
    }
    const std::span<const bool> flags(selected.get(), static_cast<std::size_t>(n));
    ASSERT_TRUE(trsen<T>(flags, t.view(), w, v.view()));
    this->expect_standard(t, w);
    this->expect_similar(a, t, v, 4);
    for (index_t i = 0; i < n; ++i) {
      EXPECT_EQ(w[static_cast<std::size_t>(i)].real() > 0, i < wanted) << i;
    }
  }
}

TYPED_TEST(Schur, OfGeneralMatricesOfAnySize) {
  using T = TypeParam;
  using R = real<T>;
  for (const int power :
       {std::numeric_limits<R>::min_exponent + 3, std::numeric_limits<R>::max_exponent - 12}) {
    const matrix<T> plain = random_matrix<T>(20, 20, this->random);
    matrix<T> t = plain, v(20, 20);
    for (index_t j = 0; j < 20; ++j) {
      for (index_t i = 0; i < 20; ++i) t(i, j) *= std::ldexp(R{1}, power);
    }
    auto w = this->places(20);
    ASSERT_EQ(gees<T>(t.view(), w, v.view()), 0);
    for (index_t j = 0; j < 20; ++j) {
      for (index_t i = 0; i < 20; ++i) t(i, j) *= std::ldexp(R{1}, -power);
    }
    this->expect_similar(plain, t, v, 4);
  }
}

TYPED_TEST(Schur, RefusesShapesThatDoNotFit) {
  using T = TypeParam;
  matrix<T> h(4, 4), wide(4, 5), z(3, 5);
  auto w = this->places(4), few = this->places(3);
  EXPECT_THROW((void)hseqr<T>(wide.view(), {0, 4}, true, w), usage_error);
  EXPECT_THROW((void)hseqr<T>(h.view(), {0, 4}, true, few), usage_error);
  EXPECT_THROW((void)hseqr<T>(h.view(), {0, 5}, true, w), usage_error);
  EXPECT_THROW((void)hseqr<T>(h.view(), {0, 4}, true, w, z.view()), usage_error);
}

}  // namespace
}  // namespace creek::linalg

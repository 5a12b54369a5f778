// SPDX-License-Identifier: Apache-2.0
// Singular value decomposition: U and V have orthonormal columns, U diag(s) V^H is the matrix, s
// decreases; for spectra that deflate, for shapes around all block borders, for bad numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/host.hpp>
#include <creek/linalg/blas3.hpp>
#include <creek/linalg/qr.hpp>
#include <creek/linalg/svd.hpp>
#include <creek/tasking.hpp>

#include "random_matrix.hpp"

namespace creek::linalg {
namespace {

using namespace creek::linalg::testing;

template <scalar T>
struct decomposition {
  index_t info = 0;
  std::vector<real<T>> s;
  matrix<T> U;
  matrix<T> VT;
};

enum class vectors { none, first, all };

template <scalar T>
decomposition<T> decompose(matrix<T> a, vectors wanted) {
  const index_t m = a.rows(), n = a.cols(), k = std::min(m, n);
  const auto count = [&](index_t all) {
    return wanted == vectors::none ? 0 : wanted == vectors::first ? k : all;
  };
  decomposition<T> made{.s = std::vector<real<T>>(static_cast<std::size_t>(k)),
                        .U = matrix<T>(m, count(m)),
                        .VT = matrix<T>(count(n), n)};
  made.info = gesdd(a.view(), std::span(made.s), made.U.view(), made.VT.view());
  return made;
}

template <scalar T>
double from_identity(op how, const matrix<T>& Q) {
  const index_t n = how == op::none ? Q.rows() : Q.cols();
  matrix<T> product(n, n), one(n, n);
  for (index_t i = 0; i < n; ++i) one(i, i) = T{1};
  const op other = how == op::none ? op::conjugate_transpose : op::none;
  gemm(how, other, T{1}, Q, Q, T{0}, product.view());
  return distance(product, one);
}

template <class T>
class Svd : public ::testing::Test {
 protected:
  using R = real<T>;
  std::mt19937 random{4711};

  matrix<T> any(index_t m, index_t n) { return random_matrix<T>(m, n, random); }
  static double bound(index_t m, index_t n) {
    return 20 * eps<T> * static_cast<double>(std::max(m, n) + 8);
  }

  /// Returns a matrix with these singular values.
  matrix<T> with_values(index_t m, index_t n, const std::vector<R>& s) {
    const auto unitary = [this](index_t rows, index_t cols) {
      matrix<T> q = any(rows, cols);
      std::vector<T> tau(static_cast<std::size_t>(cols));
      geqrf(q.view(), std::span<T>(tau));
      orgqr(q.view(), std::span<const T>(tau));
      return q;
    };
    const auto k = static_cast<index_t>(s.size());
    matrix<T> u = unitary(m, k);
    const matrix<T> v = unitary(n, k);
    for (index_t j = 0; j < k; ++j) {
      for (index_t i = 0; i < m; ++i) u(i, j) *= s[static_cast<std::size_t>(j)];
    }
    matrix<T> a(m, n);
    gemm(op::none, op::conjugate_transpose, T{1}, u, v, T{0}, a.view());
    return a;
  }

  /// Checks all forms of the decomposition of a matrix, and returns the singular values.
  std::vector<R> check(const matrix<T>& a) {
    const index_t m = a.rows(), n = a.cols(), k = std::min(m, n);
    std::vector<R> values;
    for (const auto wanted : {vectors::none, vectors::first, vectors::all}) {
      const auto made = decompose(a, wanted);
      EXPECT_EQ(made.info, 0);
      EXPECT_TRUE(std::is_sorted(made.s.rbegin(), made.s.rend())) << m << " x " << n;
      const R most = k == 0 ? R{0} : made.s.front();
      EXPECT_TRUE(k == 0 || made.s.back() >= 0);
      const double error = bound(m, n) * static_cast<double>(most);
      if (values.empty()) values = made.s;
      for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(made.s[i], values[i], error);
      if (wanted == vectors::none || k == 0) continue;
      EXPECT_LE(from_identity(op::conjugate_transpose, made.U), bound(m, n)) << m << " x " << n;
      EXPECT_LE(from_identity(op::none, made.VT), bound(m, n)) << m << " x " << n;
      matrix<T> us(made.U.view().columns(0, k)), product(m, n);
      for (index_t j = 0; j < k; ++j) {
        for (index_t i = 0; i < m; ++i) us(i, j) *= made.s[static_cast<std::size_t>(j)];
      }
      gemm(op::none, op::none, T{1}, us, made.VT.view().block(0, 0, k, n), T{0}, product.view());
      EXPECT_LE(distance(product, a), error) << m << " x " << n;
    }
    return values;
  }
};
TYPED_TEST_SUITE(Svd, scalars);

constexpr index_t shapes[][2] = {{0, 0},   {0, 3},   {3, 0},    {1, 1},    {1, 2},    {2, 1},
                                 {5, 3},   {3, 5},   {32, 32},  {33, 33},  {40, 33},  {33, 40},
                                 {64, 65}, {65, 64}, {66, 36},  {97, 97},  {150, 40}, {40, 150},
                                 {400, 3}, {3, 400}, {300, 31}, {129, 128}};

TYPED_TEST(Svd, VectorsAreOrthonormalAndGiveTheMatrix) {
  for (const unsigned workers : {0U, 2U}) {
    const auto all = [&] {
      for (const auto& [m, n] : shapes) this->check(this->any(m, n));
    };
    if (workers == 0) {
      all();
    } else {
      runtime(host(workers)).run(all);
    }
  }
}

TYPED_TEST(Svd, KnownValuesAreFound) {
  using R = real<TypeParam>;
  const auto expect = [this](const std::vector<R>& s, index_t m, index_t n) {
    const auto found = this->check(this->with_values(m, n, s));
    const double error = this->bound(m, n) * static_cast<double>(s.front());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], i < s.size() ? s[i] : R{0}, error) << i << " of " << s.size();
    }
  };
  const auto make = [](index_t count, auto f) {
    std::vector<R> s;
    for (index_t i = 0; i < count; ++i) s.push_back(static_cast<R>(f(i)));
    return s;
  };
  for (const index_t n : {index_t{20}, index_t{150}}) {
    expect(make(n, [](index_t) { return 3.0; }), n + 3, n);
    expect(make(n, [n](index_t i) { return i < n / 2 ? 2.0 : 1.0; }), n, n);
    expect(make(n, [](index_t i) { return std::pow(0.7, static_cast<double>(i)); }), n, n + 7);
    expect(make(n, [n](index_t i) { return 1 + 1e-7 * static_cast<double>(n - i); }), n, n);
    expect(make(n / 3, [n](index_t i) { return static_cast<double>(n - i); }), n, n);
    expect(make(1, [](index_t) { return 1.0; }), n, n);
  }
}

TYPED_TEST(Svd, MatricesWithStructureDecompose) {
  using T = TypeParam;
  for (const index_t n : {index_t{7}, index_t{33}, index_t{140}}) {
    matrix<T> zero(n, n), one(n, n), ones(n, n), shift(n, n), graded(n, n), corner(n, n + 1);
    for (index_t j = 0; j < n; ++j) {
      one(j, j) = T{1};
      if (j > 0) shift(j - 1, j) = T{1};
      graded(j, j) = static_cast<real<T>>(std::pow(0.5, static_cast<double>(j)));
      if (j > 0) graded(j - 1, j) = graded(j, j);
      for (index_t i = 0; i < n; ++i) ones(i, j) = T{1};
    }
    corner(n - 1, n) = T{2};
    for (const auto& a : {zero, one, ones, shift, graded, corner}) this->check(a);
  }
}

/// Elements may be as small or as large as the number type allows.
TYPED_TEST(Svd, TinyAndHugeMatricesAreScaled) {
  using T = TypeParam;
  using limits = std::numeric_limits<real<T>>;
  for (const auto& [m, n] : {std::pair<index_t, index_t>{9, 6}, {70, 40}, {40, 70}}) {
    const matrix<T> a = this->any(m, n);
    const auto plain = decompose(a, vectors::first);
    for (const real<T> size : {limits::min() * 8, limits::max() / 512}) {
      matrix<T> scaled = a;
      for (index_t j = 0; j < n; ++j) {
        for (index_t i = 0; i < m; ++i) scaled(i, j) *= size;
      }
      const auto made = decompose(scaled, vectors::first);
      EXPECT_EQ(made.info, 0);
      for (std::size_t i = 0; i < made.s.size(); ++i) {
        EXPECT_NEAR(made.s[i] / size, plain.s[i], 100 * this->bound(m, n) * plain.s[0]);
      }
      EXPECT_LE(from_identity(op::conjugate_transpose, made.U), this->bound(m, n));
    }
  }
}

TYPED_TEST(Svd, NanAndInfinityEnd) {
  using T = TypeParam;
  using limits = std::numeric_limits<real<T>>;
  for (const index_t n : {index_t{1}, index_t{2}, index_t{5}, index_t{80}}) {
    for (const auto wanted : {vectors::none, vectors::first}) {
      matrix<T> a = this->any(n, n);
      a(n / 2, n / 3) = limits::quiet_NaN();
      EXPECT_EQ(decompose(a, wanted).info, matrix_has_nan);
      a(n / 2, n / 3) = limits::infinity();
      const auto made = decompose(a, wanted);
      EXPECT_TRUE(made.info > 0 || std::isinf(made.s[0])) << n;
    }
  }
}

TYPED_TEST(Svd, ResultsDoNotDependOnTheWorkers) {
  using T = TypeParam;
  const matrix<T> a = this->any(260, 200);
  const auto alone = decompose(a, vectors::first);
  for (const unsigned workers : {1U, 2U, 3U}) {
    runtime rt{host(workers)};
    const auto made = rt.run([&] { return decompose(a, vectors::first); });
    EXPECT_EQ(made.s, alone.s);
    EXPECT_EQ(distance(made.U, alone.U), 0);
    EXPECT_EQ(distance(made.VT, alone.VT), 0);
  }
}

TYPED_TEST(Svd, GebrdGivesABidiagonalMatrix) {
  using T = TypeParam;
  using R = real<T>;
  for (const auto& [m, n] : shapes) {
    const index_t k = std::min(m, n);
    if (k == 0) continue;
    const matrix<T> before = this->any(m, n);
    matrix<T> a = before;
    const auto count = static_cast<std::size_t>(k);
    std::vector<R> d(count), e(count - 1);
    std::vector<T> tau_q(count), tau_p(count);
    gebrd(a.view(), std::span(d), std::span(e), std::span(tau_q), std::span(tau_p));
    // B, then Q B, then P (Q B)^H.
    const bool upper = m >= n;
    matrix<T> product(m, n);
    for (index_t i = 0; i < k; ++i) {
      product(i, i) = d[static_cast<std::size_t>(i)];
      EXPECT_EQ(a(i, i), product(i, i));
      if (i + 1 < k)
        (upper ? product(i, i + 1) : product(i + 1, i)) = e[static_cast<std::size_t>(i)];
    }
    const auto apply = [&](const matrix<T>& vectors, const std::vector<T>& tau, index_t offset,
                           matrix<T>& to) {
      const index_t rows = vectors.rows() - offset;
      const auto used = static_cast<std::size_t>(std::min(k, rows));
      if (rows <= 0) return;
      ormqr<T>(side::left, op::none,
               vectors.view().block(offset, 0, rows, static_cast<index_t>(used)),
               std::span<const T>(tau).first(used), to.view().block(offset, 0, rows, to.cols()));
    };
    apply(a, tau_q, upper ? 0 : 1, product);
    matrix<T> turned = applied(op::conjugate_transpose, product);
    apply(applied(op::conjugate_transpose, a), tau_p, upper ? 1 : 0, turned);
    EXPECT_LE(distance(applied(op::conjugate_transpose, turned), before),
              this->bound(m, n) * std::sqrt(static_cast<double>(k)))
        << m << " x " << n;
  }
}

TYPED_TEST(Svd, GelsdFindsLeastNormsAtAnyRank) {
  using T = TypeParam;
  using R = real<T>;
  for (const auto& [m, n] : shapes) {
    for (const index_t rank : {std::min(m, n), std::min(m, n) / 2}) {
      if (rank == 0) continue;
      std::vector<R> s;
      for (index_t i = 0; i < rank; ++i) s.push_back(static_cast<R>(2 * rank - i));
      const matrix<T> before = this->with_values(m, n, s);
      const matrix<T> right = this->any(std::max(m, n), 3);
      matrix<T> a = before, x = right;
      std::vector<R> found(static_cast<std::size_t>(std::min(m, n)));
      const auto result = gelsd<T>(a.view(), x.view(), std::span(found), 100 * this->bound(m, n));
      EXPECT_EQ(result.info, 0);
      EXPECT_EQ(result.rank, rank) << m << " x " << n;
      // A^H (A X - B) = 0, and X is in the range of A^H: X = A^H Y for the least squares Y.
      const matrix<T> X(x.view().block(0, 0, n, 3)), B(right.view().block(0, 0, m, 3));
      const auto adjoint = applied(op::conjugate_transpose, before);
      const auto residual = sum<T>(T{1}, product(before, X), T{-1}, B);
      const double error = this->bound(m, n) * static_cast<double>(4 * rank * rank + 8);
      EXPECT_LE(distance(product(adjoint, residual), matrix<T>(n, 3)), error);
      matrix<T> y(std::max(m, n), 3);
      copy<T>(X.view(), y.view().block(0, 0, n, 3));
      matrix<T> turned = adjoint;
      EXPECT_EQ(gelsd<T>(turned.view(), y.view(), std::span(found), 100 * this->bound(m, n)).rank,
                rank);
      EXPECT_LE(distance(product(adjoint, matrix<T>(y.view().block(0, 0, m, 3))), X), error);
    }
  }
}

TYPED_TEST(Svd, GelsdOfZeroIsZero) {
  using T = TypeParam;
  matrix<T> a(5, 3), b = this->any(5, 2);
  std::vector<real<T>> s(3, real<T>{1});
  const auto result = gelsd<T>(a.view(), b.view(), std::span(s), -1);
  EXPECT_EQ(result.rank, 0);
  EXPECT_EQ(distance(b, matrix<T>(5, 2)), 0);
  EXPECT_EQ(s, std::vector<real<T>>(3));
}

TEST(SvdArguments, ShapesThatDoNotFitAreRefused) {
  matrix<double> a(4, 3), u(4, 2), vt(3, 3), b(3, 1);
  std::vector<double> s(3), few(2);
  const matrix_view<double> none(nullptr, 4, 0, 4), no_rows(nullptr, 0, 3, 1);
  EXPECT_THROW((void)gesdd(a.view(), std::span(s), u.view(), vt.view()), usage_error);
  EXPECT_THROW((void)gesdd(a.view(), std::span(few), none, no_rows), usage_error);
  EXPECT_THROW((void)gelsd<double>(a.view(), b.view(), std::span(s), -1), usage_error);
}

}  // namespace
}  // namespace creek::linalg

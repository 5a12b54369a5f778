// SPDX-License-Identifier: Apache-2.0
// Eigenproblems of two matrices: the equations hold, and the vectors have the lengths that they
// should have.
#include <gtest/gtest.h>

#include <vector>

#include <creek/core/error.hpp>
#include <creek/host.hpp>
#include <creek/linalg/cholesky.hpp>
#include <creek/linalg/eigen.hpp>
#include <creek/tasking.hpp>

#include "random_matrix.hpp"

namespace creek::linalg {
namespace {

using namespace creek::linalg::testing;

template <class T>
class GeneralizedEigen : public ::testing::Test {
 protected:
  using R = real<T>;
  static constexpr R nan = std::numeric_limits<R>::quiet_NaN();
  std::mt19937 random{271828};

  static std::size_t at(index_t i) { return static_cast<std::size_t>(i); }
  static double bound(index_t n) { return 50 * eps<T> * static_cast<double>(n + 8); }

  matrix<T> hermitian(index_t n) {
    auto a = random_matrix<T>(n, n, random);
    for (index_t j = 0; j < n; ++j) {
      a(j, j) = std::real(a(j, j));
      for (index_t i = 0; i < j; ++i) a(j, i) = conjugated(a(i, j));
    }
    return a;
  }
  /// Returns a Hermitian matrix whose eigenvalues are near 1.
  matrix<T> definite(index_t n) {
    auto b = hermitian(n);
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < n; ++i) b(i, j) *= R(0.5) / static_cast<R>(n);
      b(j, j) += T{1};
    }
    return b;
  }
  /// Returns the triangle of A; in the other one there are NaN.
  static matrix<T> only_stored(triangle stored, const matrix<T>& a) {
    auto b = a;
    for (index_t j = 0; j < a.cols(); ++j) {
      for (index_t i = 0; i < a.rows(); ++i) {
        if (i != j && (i > j) != (stored == triangle::lower)) b(i, j) = nan;
      }
    }
    return b;
  }
  static matrix<T> diagonal_of(const std::vector<R>& w) {
    const auto n = static_cast<index_t>(w.size());
    matrix<T> d(n, n);
    for (index_t i = 0; i < n; ++i) d(i, i) = w[at(i)];
    return d;
  }

  void check(eigen_equation equation, triangle stored, index_t n) {
    const auto a = hermitian(n), b = definite(n);
    auto x = only_stored(stored, a), factor = only_stored(stored, b);
    std::vector<R> w(at(n)), values(at(n));
    ASSERT_EQ(hegvd(equation, eigen_job::vectors, stored, x.view(), factor.view(), std::span<R>(w)),
              0);
    const auto d = diagonal_of(w);
    const auto ax = product(a, x), bx = product(b, x), xd = product(x, d);
    const auto adjoint = applied(op::conjugate_transpose, x);
    const double size = static_cast<double>(n + 1);
    if (equation == eigen_equation::bax_is_wx) {
      EXPECT_LE(distance(product(b, ax), xd), bound(n) * size) << n;
      EXPECT_LE(distance(product(adjoint, ax), d), bound(n) * size) << n;
    } else {
      const auto left = equation == eigen_equation::ax_is_wbx ? ax : product(a, bx);
      const auto right = equation == eigen_equation::ax_is_wbx ? product(bx, d) : xd;
      EXPECT_LE(distance(left, right), bound(n) * size) << n;
      EXPECT_LE(distance(product(adjoint, bx), diagonal_of(std::vector<R>(at(n), R{1}))), bound(n));
    }
    auto destroyed = only_stored(stored, a);
    factor = only_stored(stored, b);
    ASSERT_EQ(hegvd(equation, eigen_job::values, stored, destroyed.view(), factor.view(),
                    std::span<R>(values)),
              0);
    for (index_t i = 0; i < n; ++i) EXPECT_NEAR(w[at(i)], values[at(i)], bound(n) * size);
  }
};
TYPED_TEST_SUITE(GeneralizedEigen, scalars);

constexpr eigen_equation equations[] = {eigen_equation::ax_is_wbx, eigen_equation::abx_is_wx,
                                        eigen_equation::bax_is_wx};

TYPED_TEST(GeneralizedEigen, EquationsHold) {
  for (const index_t n : {0, 1, 2, 7, 32, 33, 110}) {
    for (const eigen_equation equation : equations) {
      this->check(equation, triangle::lower, n);
      this->check(equation, triangle::upper, n);
    }
  }
}

TYPED_TEST(GeneralizedEigen, ReductionDoesNotDependOnWorkers) {
  using T = TypeParam;
  const index_t n = 150;
  const auto a = this->hermitian(n);
  auto b = this->definite(n);
  ASSERT_EQ(potrf(triangle::lower, b.view()), 0);
  for (const eigen_equation equation : equations) {
    auto alone = a, shared = a;
    hegst<T>(equation, triangle::lower, alone.view(), b.view());
    runtime rt{host(3)};
    rt.run([&] { hegst<T>(equation, triangle::lower, shared.view(), b.view()); });
    EXPECT_EQ(distance(alone, shared), 0);
  }
}

TYPED_TEST(GeneralizedEigen, FailuresAreReported) {
  using R = typename TestFixture::R;
  const index_t n = 40;
  auto a = this->hermitian(n), b = this->definite(n);
  const auto before = a;
  std::vector<R> w(40);
  b(5, 5) = R{-1};
  EXPECT_EQ(hegvd(eigen_equation::ax_is_wbx, eigen_job::vectors, triangle::lower, a.view(),
                  b.view(), std::span<R>(w)),
            n + 6);
  EXPECT_EQ(distance(a, before), 0);
  for (const eigen_equation equation : equations) {
    b = this->definite(n);
    a = before;
    a(30, 3) = this->nan;
    EXPECT_GT(
        hegvd(equation, eigen_job::vectors, triangle::lower, a.view(), b.view(), std::span<R>(w)),
        0);
  }
  EXPECT_THROW(
      hegst(eigen_equation::ax_is_wbx, triangle::lower, a.view(), b.view().columns(0, n - 1)),
      usage_error);
}

}  // namespace
}  // namespace creek::linalg

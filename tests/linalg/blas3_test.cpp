// SPDX-License-Identifier: Apache-2.0
// Level 3 against the definitions, for all types, operands and awkward sizes; inside and outside
// of a runtime.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/host.hpp>
#include <creek/linalg/blas3.hpp>
#include <creek/tasking.hpp>

#include "kernels/product.hpp"
#include "random_matrix.hpp"

namespace creek::linalg {
namespace {

using namespace creek::linalg::testing;

template <class T>
class Blas3 : public ::testing::Test {
 protected:
  std::mt19937 random{20231};
  T alpha = random_scalar<T>(random);
  T beta = random_scalar<T>(random);

  static std::vector<op> ops() { return {op::none, op::transpose, op::conjugate_transpose}; }
  matrix<T> any(index_t rows, index_t cols) { return random_matrix<T>(rows, cols, random); }
  /// Returns a matrix A for which op(A) is rows x cols.
  matrix<T> any_for(op how, index_t rows, index_t cols) {
    return how == op::none ? any(rows, cols) : any(cols, rows);
  }
  static double bound(index_t depth) { return 8 * eps<T> * (static_cast<double>(depth) + 4); }
};
TYPED_TEST_SUITE(Blas3, scalars);

TYPED_TEST(Blas3, GemmIsTheDefinition) {
  using T = TypeParam;
  const index_t sizes[][3] = {{1, 1, 1}, {5, 3, 7}, {24, 8, 16}, {49, 17, 31}, {130, 70, 300}};
  for (const auto& [m, n, k] : sizes) {
    for (const op how_a : this->ops()) {
      for (const op how_b : this->ops()) {
        const auto a = this->any_for(how_a, m, k);
        const auto b = this->any_for(how_b, k, n);
        auto c = this->any(m, n);
        const auto expected =
            sum<T>(this->alpha, product(applied(how_a, a), applied(how_b, b)), this->beta, c);
        gemm(how_a, how_b, this->alpha, a, b, this->beta, c.view());
        EXPECT_LE(distance(c, expected), this->bound(k))
            << m << " x " << n << " x " << k << static_cast<char>(how_a)
            << static_cast<char>(how_b);
      }
    }
  }
}

TYPED_TEST(Blas3, GemmInARuntimeIsTheSame) {
  using T = TypeParam;
  const auto a = this->any(700, 310);
  const auto b = this->any(310, 150);
  auto alone = this->any(700, 150);
  auto together = alone;
  const auto run = [&](matrix<T>& c) {
    gemm(op::none, op::none, this->alpha, a, b, this->beta, c.view());
  };
  run(alone);
  runtime rt{host(3)};
  rt.run([&] { run(together); });
  // The number of workers decides how blocks are partitioned, but not sums over the depth.
  EXPECT_EQ(distance(alone, together), 0);
}

TYPED_TEST(Blas3, GemmWithZeroBetaDoesNotReadTheResult) {
  using T = TypeParam;
  const auto a = this->any(30, 20);
  const auto b = this->any(20, 10);
  matrix<T> c(30, 10);
  for (index_t j = 0; j < 10; ++j) {
    for (index_t i = 0; i < 30; ++i) c(i, j) = std::numeric_limits<real<T>>::quiet_NaN();
  }
  gemm(op::none, op::none, T{1}, a, b, T{0}, c.view());
  EXPECT_LE(distance(c, product(a, b)), this->bound(20));
}

TYPED_TEST(Blas3, GemmWritesItsBlockOnly) {
  using T = TypeParam;
  const auto a = this->any(40, 40);
  auto c = this->any(60, 60);
  auto expected = c;
  const auto inner = product(a, a);
  for (index_t j = 0; j < 40; ++j) {
    for (index_t i = 0; i < 40; ++i) expected(i + 7, j + 9) += inner(i, j);
  }
  gemm(op::none, op::none, T{1}, a, a, T{1}, c.view().block(7, 9, 40, 40));
  EXPECT_LE(distance(c, expected), this->bound(40));
}

TYPED_TEST(Blas3, EmptyMatricesAreFine) {
  using T = TypeParam;
  matrix<T> none(0, 5), c(4, 5);
  c(1, 1) = T{2};
  gemm(op::none, op::none, T{1}, matrix<T>(4, 0), none, T{3}, c.view());
  EXPECT_EQ(c(1, 1), T{6});
  gemm(op::none, op::none, T{1}, none, matrix<T>(5, 2), T{3}, matrix<T>(0, 2).view());
  trsm(side::left, triangle::lower, op::none, diagonal::stored, T{1}, matrix<T>(0, 0), none.view());
}

TYPED_TEST(Blas3, ShapesThatDoNotFitAreMisuse) {
  using T = TypeParam;
  auto c = this->any(3, 3);
  EXPECT_THROW(gemm(op::none, op::none, T{1}, this->any(3, 2), this->any(3, 3), T{0}, c.view()),
               usage_error);
  EXPECT_THROW(syrk(triangle::lower, op::none, T{1}, this->any(4, 3), T{0}, c.view()), usage_error);
  EXPECT_THROW(
      trsm(side::right, triangle::lower, op::none, diagonal::unit, T{1}, this->any(4, 3), c.view()),
      usage_error);
}

TYPED_TEST(Blas3, SymmetricAndHermitianProducts) {
  using T = TypeParam;
  for (const triangle stored : {triangle::lower, triangle::upper}) {
    for (const side where : {side::left, side::right}) {
      const index_t m = 75, n = 61, order = where == side::left ? m : n;
      const auto a = this->any(order, order);
      matrix<T> mirrored(order, order), hermitian(order, order);
      for (index_t j = 0; j < order; ++j) {
        for (index_t i = 0; i < order; ++i) {
          const bool inside = i == j || (i > j) == (stored == triangle::lower);
          mirrored(i, j) = inside ? a(i, j) : a(j, i);
          hermitian(i, j) = i == j ? T{std::real(a(i, i))} : inside ? a(i, j) : conjugated(a(j, i));
        }
      }
      const auto b = this->any(m, n);
      const auto times = [&](const matrix<T>& whole) {
        return where == side::left ? product(whole, b) : product(b, whole);
      };
      auto c = this->any(m, n);
      auto expected = sum<T>(this->alpha, times(mirrored), this->beta, c);
      symm(where, stored, this->alpha, a, b, this->beta, c.view());
      EXPECT_LE(distance(c, expected), this->bound(order));
      expected = sum<T>(this->alpha, times(hermitian), this->beta, c);
      hemm(where, stored, this->alpha, a, b, this->beta, c.view());
      EXPECT_LE(distance(c, expected), 4 * this->bound(order));
    }
  }
}

/// Returns `c` in the triangle and `before` elsewhere.
template <scalar T>
matrix<T> merged(triangle stored, const matrix<T>& c, matrix<T> before) {
  for (index_t j = 0; j < c.cols(); ++j) {
    for (index_t i = 0; i < c.rows(); ++i) {
      if (i == j || (i > j) == (stored == triangle::lower)) before(i, j) = c(i, j);
    }
  }
  return before;
}

TYPED_TEST(Blas3, RankUpdatesWriteTheirTriangle) {
  using T = TypeParam;
  const index_t n = 101, k = 57;
  for (const triangle stored : {triangle::lower, triangle::upper}) {
    for (const bool turned : {false, true}) {
      const op plain = turned ? op::transpose : op::none;
      const op back = turned ? op::none : op::transpose;
      const auto a = this->any_for(plain, n, k);
      const auto b = this->any_for(plain, n, k);
      const auto whole = [&](const matrix<T>& x, const matrix<T>& y) {
        return product(applied(plain, x), applied(back, y));
      };
      auto c = this->any(n, n);
      auto expected = merged(stored, sum<T>(this->alpha, whole(a, a), this->beta, c), c);
      syrk(stored, plain, this->alpha, a, this->beta, c.view());
      EXPECT_LE(distance(c, expected), this->bound(k));
      expected = merged(
          stored, sum<T>(this->alpha, sum<T>(T{1}, whole(a, b), T{1}, whole(b, a)), this->beta, c),
          c);
      syr2k(stored, plain, this->alpha, a, b, this->beta, c.view());
      EXPECT_LE(distance(c, expected), 4 * this->bound(k));
    }
  }
}

TYPED_TEST(Blas3, HermitianRankUpdatesWriteTheirTriangle) {
  using T = TypeParam;
  const index_t n = 83, k = 44;
  const real<T> two = 2, half = real<T>(0.5);
  for (const triangle stored : {triangle::lower, triangle::upper}) {
    for (const bool turned : {false, true}) {
      const op plain = turned ? op::conjugate_transpose : op::none;
      const op back = turned ? op::none : op::conjugate_transpose;
      const auto a = this->any_for(plain, n, k);
      const auto b = this->any_for(plain, n, k);
      const auto whole = [&](const matrix<T>& x, const matrix<T>& y) {
        return product(applied(plain, x), applied(back, y));
      };
      auto c = this->any(n, n);
      for (index_t i = 0; i < n; ++i) c(i, i) = std::real(c(i, i));
      auto expected = merged(stored, sum<T>(T{two}, whole(a, a), T{half}, c), c);
      herk(stored, plain, two, a, half, c.view());
      EXPECT_LE(distance(c, expected), 2 * this->bound(k));
      expected = merged(
          stored,
          sum<T>(T{1}, sum<T>(this->alpha, whole(a, b), conjugated(this->alpha), whole(b, a)),
                 T{half}, c),
          c);
      her2k(stored, plain, this->alpha, a, b, half, c.view());
      EXPECT_LE(distance(c, expected), 4 * this->bound(k));
      for (index_t i = 0; i < n; ++i) EXPECT_EQ(std::imag(c(i, i)), 0);
    }
  }
}

TYPED_TEST(Blas3, TriangularProductsAndSystems) {
  using T = TypeParam;
  runtime rt{host(2)};
  for (const index_t order : {1, 7, 64, 150, 270}) {
    for (const triangle stored : {triangle::lower, triangle::upper}) {
      for (const diagonal ones : {diagonal::stored, diagonal::unit}) {
        for (const op how : this->ops()) {
          for (const side where : {side::left, side::right}) {
            auto a = this->any(order, order);
            // Well conditioned, whichever diagonal is used.
            for (index_t j = 0; j < order; ++j) {
              for (index_t i = 0; i < order; ++i) a(i, j) /= static_cast<real<T>>(order);
              a(j, j) += T{2};
            }
            const auto t = applied(how, only(stored, ones, a));
            const auto b = where == side::left ? this->any(order, 13) : this->any(13, order);
            auto c = b;
            const auto times = [&](const matrix<T>& x) {
              return where == side::left ? product(t, x) : product(x, t);
            };
            rt.run([&] { trmm(where, stored, how, ones, this->alpha, a, c.view()); });
            EXPECT_LE(distance(c, sum<T>(this->alpha, times(b), T{0}, b)), 2 * this->bound(order));
            rt.run([&] { trsm(where, stored, how, ones, T{1} / this->alpha, a, c.view()); });
            EXPECT_LE(distance(c, b), 8 * this->bound(order))
                << order << static_cast<char>(stored) << static_cast<char>(how)
                << static_cast<char>(where) << static_cast<char>(ones);
          }
        }
      }
    }
  }
}

// The zeros of a triangular matrix are not numbers that could be multiplied.
TYPED_TEST(Blas3, InfinityDoesNotPassATrianglesZeros) {
  using T = TypeParam;
  using R = real<T>;
  for (const index_t order : {3, 40, 150, 300}) {
    const index_t at = order / 2;
    for (const triangle stored : {triangle::lower, triangle::upper}) {
      for (const op how : this->ops()) {
        for (const side where : {side::left, side::right}) {
          auto a = this->any(order, order);
          for (index_t i = 0; i < order; ++i) a(i, i) += T{4};
          const bool left = where == side::left;
          const matrix<T> b = left ? this->any(order, 9) : this->any(9, order);
          auto multiplied = b, solved = b;
          for (matrix<T>* each : {&multiplied, &solved}) {
            for (index_t i = 0; i < 9; ++i) {
              (left ? (*each)(at, i) : (*each)(i, at)) = T{std::numeric_limits<R>::infinity()};
            }
          }
          trmm(where, stored, how, diagonal::stored, T{1}, a, multiplied.view());
          trsm(where, stored, how, diagonal::stored, T{1}, a, solved.view());
          const bool low = (stored == triangle::lower) == (how == op::none);
          for (index_t i = 0; i < order; ++i) {
            const bool reached = low == left ? i >= at : i <= at;
            for (const matrix<T>* each : {&multiplied, &solved}) {
              const T got = left ? (*each)(i, 4) : (*each)(4, i);
              EXPECT_EQ(std::isfinite(std::abs(got)), !reached) << order << ' ' << i;
            }
          }
        }
      }
    }
  }
}

// Loops advance by this many rows: zero would make them endless.
TYPED_TEST(Blas3, BlocksOfAnyDepthHaveRows) {
  using T = TypeParam;
  const index_t strip = micro_tile<T>().rows;
  for (const index_t depth : {index_t{1}, index_t{256}, index_t{6000}, index_t{1} << 40}) {
    const index_t rows = detail::blocking<T>::rows(depth);
    EXPECT_GT(rows, 0) << depth;
    EXPECT_EQ(rows % strip, 0) << depth;
  }
}

}  // namespace
}  // namespace creek::linalg

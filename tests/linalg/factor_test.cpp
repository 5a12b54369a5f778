// SPDX-License-Identifier: Apache-2.0
// LU and Cholesky: products of factors, solutions, info, awkward shapes; without and in runtimes.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/host.hpp>
#include <creek/linalg/cholesky.hpp>
#include <creek/linalg/lu.hpp>
#include <creek/linalg/task_graph.hpp>
#include <creek/tasking.hpp>

#include "random_matrix.hpp"

namespace creek::linalg {
namespace {

using namespace creek::linalg::testing;

template <class T>
class Factor : public ::testing::Test {
 protected:
  std::mt19937 random{777};

  matrix<T> any(index_t rows, index_t cols) { return random_matrix<T>(rows, cols, random); }

  /// Runs the body without a runtime, and in runtimes of several workers.
  static void everywhere(const std::function<void()>& body) {
    body();
    for (const unsigned workers : {1U, 3U}) {
      runtime rt{host(workers)};
      rt.run(body);
    }
  }

  /// Returns L * U of a factored m x n matrix.
  static matrix<T> recombined(const matrix<T>& a) {
    const index_t n = std::min(a.rows(), a.cols());
    matrix<T> l(a.rows(), n), u(n, a.cols());
    for (index_t j = 0; j < n; ++j) {
      l(j, j) = T{1};
      for (index_t i = j + 1; i < a.rows(); ++i) l(i, j) = a(i, j);
    }
    for (index_t j = 0; j < a.cols(); ++j) {
      for (index_t i = 0; i <= std::min(j, n - 1); ++i) u(i, j) = a(i, j);
    }
    return product(l, u);
  }

  void check_lu(index_t m, index_t n, index_t block) {
    const auto before = any(m, n);
    auto a = before;
    std::vector<index_t> pivots(static_cast<std::size_t>(std::min(m, n)), -1);
    ASSERT_EQ(getrf(a.view(), std::span<index_t>(pivots), {.block = block}), 0);
    auto exchanged = before;
    laswp(exchanged.view(), std::span<const index_t>(pivots));
    EXPECT_LE(distance(recombined(a), exchanged), 8 * eps<T> * static_cast<double>(n + 8))
        << m << " x " << n << " by " << block;
    // Pivots are the largest by |re| + |im|.
    const double most = (is_complex<T> ? std::sqrt(2.0) : 1.0) + 4 * eps<T>;
    double largest = 0;
    for (index_t j = 0; j < std::min(m, n); ++j) {
      EXPECT_GE(pivots[static_cast<std::size_t>(j)], j);
      for (index_t i = j + 1; i < m; ++i) largest = std::max<double>(largest, std::abs(a(i, j)));
    }
    EXPECT_LE(largest, most);
  }

  matrix<T> definite(index_t n) {
    auto a = any(n, n);
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < j; ++i) a(j, i) = conjugated(a(i, j));
      a(j, j) = static_cast<real<T>>(2 * n);
    }
    return a;
  }

  void check_cholesky(index_t n, triangle stored, index_t block) {
    const auto before = definite(n);
    auto a = before;
    ASSERT_EQ(potrf(stored, a.view(), {.block = block}), 0);
    auto factor = only(stored, diagonal::stored, a);
    const auto back = applied(op::conjugate_transpose, factor);
    const auto whole = stored == triangle::lower ? product(factor, back) : product(back, factor);
    EXPECT_LE(distance(whole, before), 64 * eps<T> * static_cast<double>(n))
        << n << " by " << block;
    index_t touched = 0;  // outside the triangle
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < n; ++i) {
        const bool outside = i != j && (i > j) != (stored == triangle::lower);
        touched += outside && a(i, j) != before(i, j);
      }
    }
    EXPECT_EQ(touched, 0);
  }
};
TYPED_TEST_SUITE(Factor, scalars);

TYPED_TEST(Factor, LuIsTheMatrix) {
  const index_t shapes[][3] = {{1, 1, 0},     {2, 2, 0},      {17, 17, 0},   {64, 64, 16},
                               {150, 150, 0}, {230, 230, 40}, {210, 90, 32}, {90, 210, 32},
                               {1, 9, 0},     {9, 1, 0},      {251, 251, 0}};
  for (const auto& [m, n, block] : shapes) {
    this->everywhere([&, m = m, n = n, block = block] { this->check_lu(m, n, block); });
  }
}

/// LU by Gauss' elimination of one column after the other, with LAPACK's pivots.
template <scalar T>
std::vector<index_t> eliminate_plainly(matrix<T>& a) {
  const auto magnitude = [](T x) { return std::abs(std::real(x)) + std::abs(std::imag(x)); };
  std::vector<index_t> pivots(static_cast<std::size_t>(a.cols()));
  for (index_t j = 0; j < a.cols(); ++j) {
    index_t at = j;
    for (index_t i = j; i < a.rows(); ++i) {
      if (magnitude(a(i, j)) > magnitude(a(at, j))) at = i;
    }
    pivots[static_cast<std::size_t>(j)] = at;
    if (a(at, j) == T{}) continue;
    for (index_t c = 0; c < a.cols(); ++c) std::swap(a(j, c), a(at, c));
    for (index_t i = j + 1; i < a.rows(); ++i) a(i, j) /= a(j, j);
    for (index_t c = j + 1; c < a.cols(); ++c) {
      for (index_t i = j + 1; i < a.rows(); ++i) a(i, c) -= a(i, j) * a(j, c);
    }
  }
  return pivots;
}

TYPED_TEST(Factor, TallMatricesHaveThePivotsOfPlainElimination) {
  using T = TypeParam;
  const std::pair<index_t, index_t> shapes[] = {{4095, 20}, {4096, 1},  {4097, 7},  {4096, 8},
                                                {6145, 9},  {20000, 3}, {5000, 25}, {4200, 100},
                                                {300, 12},  {2049, 16}};
  for (const auto& [m, n] : shapes) {
    const auto before = this->any(m, n);
    auto wanted = before;
    const auto pivots = eliminate_plainly(wanted);
    this->everywhere([&, m = m, n = n] {
      auto a = before;
      std::vector<index_t> chosen(static_cast<std::size_t>(n));
      EXPECT_EQ(getrf(a.view(), std::span<index_t>(chosen)), 0);
      EXPECT_EQ(chosen, pivots) << m << " x " << n;
      EXPECT_LE(distance(a, wanted), 256 * eps<T> * static_cast<double>(n + 8));
    });
  }
}

TYPED_TEST(Factor, TallMatricesTakeTheFirstOfEqualPivots) {
  using T = TypeParam;
  // All arithmetic is exact: the pivots are 1, then 2, then a multiple of 1/2.
  matrix<T> before(9001, 3);
  std::uniform_int_distribution<int> sign(-1, 1);
  for (index_t j = 0; j < 3; ++j) {
    for (index_t i = 0; i < 9001; ++i) before(i, j) = static_cast<real<T>>(sign(this->random));
  }
  auto wanted = before;
  const auto pivots = eliminate_plainly(wanted);
  this->everywhere([&] {
    auto a = before;
    std::vector<index_t> chosen(3);
    EXPECT_EQ(getrf(a.view(), std::span<index_t>(chosen)), 0);
    EXPECT_EQ(chosen, pivots);
    EXPECT_EQ(distance(a, wanted), 0);
  });
}

TYPED_TEST(Factor, TallMatricesWithZerosNaNAndTinyPivots) {
  using T = TypeParam;
  using R = real<T>;
  const index_t m = 9000, n = 20;
  std::vector<index_t> pivots(static_cast<std::size_t>(n));
  for (const index_t zero : {0, 6, 7, 8, 19}) {
    auto a = this->any(m, n);
    std::fill_n(a.view().column(zero), m, T{});
    EXPECT_EQ(getrf(a.view(), std::span<index_t>(pivots)), zero + 1);
    EXPECT_EQ(pivots[static_cast<std::size_t>(zero)], zero);
  }
  for (const index_t column : {0, 5, 12}) {
    auto a = this->any(m, n);
    a(8000, column) = std::numeric_limits<R>::quiet_NaN();
    a(8500, column) = std::numeric_limits<R>::quiet_NaN();
    (void)getrf(a.view(), std::span<index_t>(pivots));
    EXPECT_EQ(pivots[static_cast<std::size_t>(column)], 8000);
    EXPECT_TRUE(std::isnan(std::abs(a(m - 1, column))));
  }
  matrix<T> tiny(m, 2);
  for (index_t i = 0; i < m; ++i) tiny(i, 0) = std::numeric_limits<R>::denorm_min() * 8;
  tiny(7000, 0) *= R{-4};
  tiny(3, 1) = T{1};
  EXPECT_EQ(getrf(tiny.view(), std::span<index_t>(pivots)), 0);
  EXPECT_EQ(pivots[0], 7000);
  EXPECT_EQ(tiny(m - 1, 0), T{R{-0.25}});
}

TYPED_TEST(Factor, TallMatricesHaveTheSameBitsOnAnyWorkers) {
  const auto before = this->any(9000, 60);
  std::vector<index_t> pivots(60);
  auto alone = before;
  ASSERT_EQ(getrf(alone.view(), std::span<index_t>(pivots)), 0);
  for (const unsigned workers : {1U, 2U, 3U}) {
    auto a = before;
    runtime rt{host(workers)};
    ASSERT_EQ(rt.run([&] { return getrf(a.view(), std::span<index_t>(pivots)); }), 0);
    EXPECT_EQ(distance(a, alone), 0) << workers;
  }
}

TYPED_TEST(Factor, CholeskyIsTheMatrix) {
  for (const triangle stored : {triangle::lower, triangle::upper}) {
    for (const auto& [n, block] : {std::pair<index_t, index_t>{1, 0},
                                   {5, 0},
                                   {48, 0},
                                   {97, 48},
                                   {200, 0},
                                   {211, 48},
                                   {170, 1}}) {
      this->everywhere([&, n = n, block = block] { this->check_cholesky(n, stored, block); });
    }
  }
}

TYPED_TEST(Factor, CholeskyHasTheSameBitsOnAnyWorkers) {
  const auto definite = this->definite(230);
  for (const triangle stored : {triangle::lower, triangle::upper}) {
    auto alone = definite;
    ASSERT_EQ(potrf(stored, alone.view(), {.block = 32}), 0);
    for (const unsigned workers : {1U, 2U, 3U}) {
      auto a = definite;
      runtime rt{host(workers)};
      ASSERT_EQ(rt.run([&] { return potrf(stored, a.view(), {.block = 32}); }), 0);
      EXPECT_EQ(distance(a, alone), 0) << workers;
    }
  }
}

TYPED_TEST(Factor, SolutionsSolve) {
  using T = TypeParam;
  const index_t n = 210;
  auto a = this->any(n, n);
  for (index_t i = 0; i < n; ++i) a(i, i) += static_cast<real<T>>(20);
  const auto b = this->any(n, 7);
  const double bound = 64 * eps<T> * static_cast<double>(n);
  runtime rt{host(2)};
  rt.run([&] {
    const lu<T> factors(a);
    ASSERT_EQ(factors.info(), 0);
    for (const op how : {op::none, op::transpose, op::conjugate_transpose}) {
      EXPECT_LE(distance(product(applied(how, a), factors.solve(b, how)), b), bound);
    }
    const auto definite = this->definite(n);
    for (const triangle stored : {triangle::lower, triangle::upper}) {
      const cholesky<T> roots(definite, stored);
      ASSERT_EQ(roots.info(), 0);
      EXPECT_LE(distance(product(definite, roots.solve(b)), b), bound);
    }
  });
}

TYPED_TEST(Factor, SingularMatricesHaveTheirFirstZeroAsInfo) {
  using T = TypeParam;
  const index_t n = 180;
  std::vector<index_t> pivots(static_cast<std::size_t>(n));
  for (const index_t zero : {0, 77, 179}) {
    auto a = this->any(n, n);
    for (index_t i = 0; i < n; ++i) a(i, zero) = T{};
    auto x = this->any(n, 1);
    const auto before = x;
    EXPECT_EQ(gesv(a.view(), std::span<index_t>(pivots), x.view(), {.block = 32}), zero + 1);
    EXPECT_EQ(distance(x, before), 0);  // unchanged
  }
  matrix<T> nothing(3, 3);
  EXPECT_EQ(getrf(nothing.view(), std::span<index_t>(pivots)), 1);
}

TYPED_TEST(Factor, IndefiniteMatricesHaveTheirOrderAsInfo) {
  using T = TypeParam;
  for (const triangle stored : {triangle::lower, triangle::upper}) {
    for (const index_t bad : {0, 59, 199}) {
      this->everywhere([&] {
        auto a = this->definite(200);
        a(bad, bad) = T{-1};
        EXPECT_EQ(potrf(stored, a.view(), {.block = 48}), bad + 1);
        a = this->definite(200);
        a(bad, bad) = std::numeric_limits<real<T>>::quiet_NaN();
        EXPECT_EQ(potrf(stored, a.view(), {.block = 48}), bad + 1);
      });
    }
  }
}

TYPED_TEST(Factor, NaNEndsAndSpreads) {
  using T = TypeParam;
  auto a = this->any(100, 100);
  a(50, 3) = std::numeric_limits<real<T>>::quiet_NaN();
  std::vector<index_t> pivots(100);
  (void)getrf(a.view(), std::span<index_t>(pivots));
  EXPECT_TRUE(std::isnan(std::abs(a(99, 99))));
}

TYPED_TEST(Factor, TinyPivotsDivide) {
  using T = TypeParam;
  constexpr real<T> tiny = std::numeric_limits<real<T>>::denorm_min() * 8;
  for (const index_t n : {1, 300}) {
    matrix<T> a(n, n), b(n, 2);
    for (index_t i = 0; i < n; ++i) {
      a(i, i) = i == n - 1 ? T{tiny} : T{1};
      b(i, 0) = a(i, i);
    }
    std::vector<index_t> pivots(static_cast<std::size_t>(n));
    ASSERT_EQ(gesv(a.view(), std::span<index_t>(pivots), b.view()), 0);
    for (index_t i = 0; i < n; ++i) {
      EXPECT_EQ(b(i, 0), T{1});
      EXPECT_EQ(b(i, 1), T{});
    }
  }
}

TYPED_TEST(Factor, AnyBlockWillDo) {
  for (const index_t block : {index_t{1}, std::numeric_limits<index_t>::max()}) {
    this->check_lu(45, 45, block);
    for (const triangle stored : {triangle::lower, triangle::upper}) {
      this->check_cholesky(45, stored, block);
    }
  }
}

TYPED_TEST(Factor, ReportsSayWhatRanWhere) {
  auto a = this->definite(100);
  std::vector<index_t> pivots(100);
  graph_report report;
  runtime rt{host(2)};
  rt.run([&] {
    for (const triangle stored : {triangle::lower, triangle::upper}) {
      a = this->definite(100);
      (void)potrf(stored, a.view(), {.block = 48, .report = &report});
      EXPECT_EQ(report.tasks, 6U);
    }
    (void)getrf(a.view(), std::span(pivots), {.block = 40, .report = &report});
  });
  EXPECT_EQ(report.tasks, 6U);
  ASSERT_EQ(report.runs.size(), 6U);
  for (const task_run& each : report.runs) {
    EXPECT_TRUE(each.worker == 0 || each.worker == 1);
    EXPECT_LE(each.start, each.end);
  }
  EXPECT_EQ(activity(report.runs, report.workers).size(), 3U);
  (void)getrf(matrix<TypeParam>(0, 0).view(), {}, {.report = &report});
  EXPECT_EQ(report.tasks, 0U);
}

TYPED_TEST(Factor, EmptyMatricesAndMisuse) {
  using T = TypeParam;
  matrix<T> none(0, 4), flat(3, 4);
  std::vector<index_t> pivots(2);
  EXPECT_EQ(getrf(none.view(), std::span<index_t>()), 0);
  EXPECT_EQ(potrf(triangle::lower, matrix<T>(0, 0).view()), 0);
  EXPECT_THROW((void)getrf(flat.view(), std::span<index_t>(pivots)), usage_error);
  EXPECT_THROW((void)potrf(triangle::lower, flat.view()), usage_error);
  const std::vector<index_t> four(4);
  EXPECT_THROW(laswp(flat.view(), std::span<const index_t>(four)), usage_error);
}

}  // namespace
}  // namespace creek::linalg

// SPDX-License-Identifier: Apache-2.0
// Factorizations by tiles: tile QR by both trees, LU with incremental pivoting.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include <creek/core/error.hpp>
#include <creek/host.hpp>
#include <creek/linalg/tile_lu.hpp>
#include <creek/linalg/tile_qr.hpp>
#include <creek/tasking.hpp>

#include "random_matrix.hpp"

namespace creek::linalg {
namespace {

using namespace creek::linalg::testing;

constexpr unsigned seed = 2718;

template <class T>
class TileFactor : public ::testing::Test {
 protected:
  std::mt19937 random{seed};

  matrix<T> any(index_t rows, index_t cols) { return random_matrix<T>(rows, cols, random); }
  static matrix<T> identity(index_t n) {
    matrix<T> i(n, n);
    for (index_t j = 0; j < n; ++j) i(j, j) = T{1};
    return i;
  }
  static double bound(index_t n) { return 16 * eps<T> * static_cast<double>(n + 8); }

  /// Runs the body without a runtime, and on three workers.
  static void everywhere(const std::function<void()>& body) {
    body();
    runtime rt{host(3)};
    rt.run(body);
  }

  void check_qr(index_t m, index_t n, const tile_qr_options& options) {
    // A scoped trace would belong to the thread, but a task moves between threads.
    const auto where = ::testing::Message()
                       << m << " x " << n << " by " << options.block << ", inner " << options.inner
                       << ", domain " << options.domain << ", seed " << seed;
    const auto a = any(m, n);
    const index_t k = std::min(m, n);
    const tile_qr<T> factors(a.view(), options);
    EXPECT_EQ(factors.info(), 0) << where;
    const auto q = factors.form_q();
    const auto q_turned = applied(op::conjugate_transpose, q);
    EXPECT_LE(distance(product(q_turned, q), identity(k)), bound(m)) << where;
    EXPECT_LE(distance(product(q, factors.r()), a), bound(m)) << where;
    const auto b = any(m, 5);
    auto c = b;
    factors.apply_q(op::conjugate_transpose, c.view());
    const const_view<T> projected = c.view().block(0, 0, k, 5);
    EXPECT_LE(distance<T>(projected, product(q_turned, b).view()), bound(m)) << where;
    factors.apply_q(op::none, c.view());
    EXPECT_LE(distance(c, b), bound(m)) << where;
  }

  /// Checks solutions of all kinds, and the factors, which stay within `growth` times the matrix.
  void check_lu(const matrix<T>& a, const tile_lu_options& options, double growth) {
    const index_t n = a.rows();
    const auto where = ::testing::Message() << n << " by " << options.block << ", inner "
                                            << options.inner << ", seed " << seed;
    const tile_lu<T> factors(a.view(), options);
    EXPECT_EQ(factors.info(), 0) << where;
    double most = 0;
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i <= j; ++i) {
        most = std::max<double>(most, std::abs(factors.factors()(i, j)));
      }
    }
    EXPECT_LE(most, growth) << where;
    const auto x = any(n, 3);
    for (const op how : {op::none, op::transpose, op::conjugate_transpose}) {
      const auto turned = applied(how, a);
      const auto b = product(turned, x);
      const auto found = factors.solve(b, how);
      // Uses the residual, since the solution may be inaccurate for this matrix.
      double size = 1;
      for (index_t j = 0; j < 3; ++j) {
        for (index_t i = 0; i < n; ++i) size = std::max<double>(size, std::abs(found(i, j)));
      }
      EXPECT_LE(distance(product(turned, found), b), 8 * bound(n) * size)
          << where << static_cast<char>(how);
    }
  }
};
TYPED_TEST_SUITE(TileFactor, scalars);

TYPED_TEST(TileFactor, QrIsOrthogonalTimesTriangular) {
  const index_t shapes[][4] = {
      {1, 1, 4, 0},    {1, 9, 4, 0},     {9, 1, 4, 3},    {3, 40, 48, 0},    {64, 64, 16, 8},
      {61, 61, 16, 5}, {90, 33, 13, 40}, {33, 90, 13, 4}, {110, 70, 70, 48}, {100, 100, 0, 0}};
  this->everywhere([&] {
    for (const auto& [m, n, block, inner] : shapes) {
      this->check_qr(m, n, {.block = block, .inner = inner});
      for (const index_t domain : {1, 3}) {
        this->check_qr(m, n, {block, inner, reduction_tree::binary, domain});
      }
    }
  });
}

TYPED_TEST(TileFactor, LeastSquaresAreOrthogonalToTheColumns) {
  using T = TypeParam;
  const auto a = this->any(140, 45);
  const auto b = this->any(140, 30);
  for (const reduction_tree tree : {reduction_tree::flat, reduction_tree::binary}) {
    const tile_qr<T> factors(a.view(), {.block = 20, .inner = 8, .tree = tree});
    const auto left_over = sum<T>(T{1}, product(a, factors.solve(b)), T{-1}, b);
    const auto normal = product(applied(op::conjugate_transpose, a), left_over);
    EXPECT_LE(distance(normal, matrix<T>(45, 30)), 40 * this->bound(140));
  }
}

TYPED_TEST(TileFactor, LuSolves) {
  // 1 is the largest element, or sqrt(2); partial pivoting lets it grow to a few dozen.
  this->everywhere([&] {
    for (const auto& [n, block, inner] : {std::array<index_t, 3>{1, 4, 0},
                                          {7, 7, 2},
                                          {30, 8, 8},
                                          {97, 16, 5},
                                          {150, 48, 48},
                                          {101, 100, 0},
                                          {120, 0, 0}}) {
      this->check_lu(this->any(n, n), {.block = block, .inner = inner},
                     4 * std::sqrt(static_cast<double>(n)) + 4);
    }
  });
}

TYPED_TEST(TileFactor, PivotsAreTakenFromOtherTiles) {
  // The diagonal tiles are zero: every pivot is below them.
  using T = TypeParam;
  const index_t n = 60, block = 15;
  auto a = this->any(n, n);
  for (index_t j = 0; j < n; ++j) {
    for (index_t i = 0; i < n; ++i) {
      if (i / block == j / block) a(i, j) = T{};
    }
  }
  this->check_lu(a, {.block = block, .inner = 4}, 60);
}

TYPED_TEST(TileFactor, SingularMatricesHaveTheirFirstZeroAsInfo) {
  using T = TypeParam;
  for (const index_t zero : {0, 37, 69}) {
    auto a = this->any(70, 70);
    for (index_t i = 0; i < 70; ++i) a(i, zero) = T{};
    EXPECT_EQ(tile_lu<T>(a.view(), {.block = 16, .inner = 8}).info(), zero + 1);
    for (const reduction_tree tree : {reduction_tree::flat, reduction_tree::binary}) {
      const tile_qr<T> factors(a.view(), {.block = 16, .inner = 8, .tree = tree});
      EXPECT_EQ(factors.info(), zero + 1);
      EXPECT_LE(distance(product(factors.form_q(), factors.r()), a), this->bound(70));
    }
  }
}

TYPED_TEST(TileFactor, NaNAndInfinityEndAndSpread) {
  using T = TypeParam;
  for (const real<T> bad :
       {std::numeric_limits<real<T>>::quiet_NaN(), std::numeric_limits<real<T>>::infinity()}) {
    auto a = this->any(50, 50);
    a(33, 3) = bad;
    const auto b = this->any(50, 1);
    const auto lu_x = tile_lu<T>(a.view(), {.block = 12, .inner = 4}).solve(b);
    // Infinity may be a divisor, and leave a solution.
    EXPECT_TRUE(std::isinf(bad) || std::isnan(std::abs(lu_x(0, 0))));
    for (const reduction_tree tree : {reduction_tree::flat, reduction_tree::binary}) {
      const auto x = tile_qr<T>(a.view(), {.block = 12, .inner = 4, .tree = tree}).solve(b);
      EXPECT_TRUE(std::isnan(std::abs(x(49, 0))));
    }
  }
}

TYPED_TEST(TileFactor, FactorAndSolveShareAGraph) {
  using T = TypeParam;
  const auto a = this->any(83, 83), b = this->any(83, 21);
  const auto expected = tile_lu<T>(a.view(), {.block = 16, .inner = 8}).solve(b);
  const auto expected_qr = tile_qr<T>(a.view(), {.block = 16, .inner = 8}).solve(b);
  runtime rt{host(3)};
  rt.run([&] {
    task_graph graph;
    auto x = b, y = b;
    tile_lu<T> first(graph, tile_matrix<T>(a.view(), 16), {.inner = 8});
    const tile_lu<T> moved = std::move(first);
    moved.solve(graph, op::none, x.view());
    const tile_qr<T> other(graph, tile_matrix<T>(a.view(), 16), {.inner = 8});
    other.solve(graph, y.view());
    graph.wait();
    // The sums are the same whichever worker computed them.
    EXPECT_EQ(distance(x, expected), 0);
    EXPECT_EQ(distance(y, expected_qr), 0);
  });
}

TEST(TileFactorGraph, DryRunsCountTasks) {
  const auto report_of = [](const auto& enqueue) {
    task_graph graph({.dry_run = true});
    return enqueue(graph), graph.wait();
  };
  const auto lu = report_of([](task_graph& graph) {
    const tile_lu<double> factors(graph, tile_matrix<double>(400, 400, 100));
  });
  EXPECT_EQ(lu.tasks, 4U + 6 + 6 + 14);  // getrf, gessm, tstrf, ssssm
  const auto qr = [&](reduction_tree tree, index_t domain) {
    return report_of([&](task_graph& graph) {
      const tile_qr<double> factors(graph, tile_matrix<double>(1600, 100, 100),
                                    {.tree = tree, .domain = domain});
    });
  };
  EXPECT_EQ(qr(reduction_tree::flat, 1).depth, 16U);
  EXPECT_EQ(qr(reduction_tree::binary, 1).depth, 1U + 4);
  EXPECT_EQ(qr(reduction_tree::binary, 4).depth, 4U + 2);
}

TYPED_TEST(TileFactor, TasksKeepWhatTheyNeed) {
  using T = TypeParam;
  const auto a = this->any(90, 90);
  const auto x = this->any(90, 2);
  const auto b = product(a, x);
  matrix<T> by_lu = b, by_qr = b, low(89, 1);
  this->everywhere([&] {
    by_lu = by_qr = b;
    task_graph graph;
    {
      const tile_lu<T> lu(graph, tile_matrix<T>(a.view(), 16));
      const tile_qr<T> qr(graph, tile_matrix<T>(a.view(), 16));
      lu.solve(graph, op::none, by_lu.view());
      qr.solve(graph, by_qr.view());
      EXPECT_THROW(lu.solve(graph, op::none, low.view()), usage_error);
    }
    graph.wait();
    for (const matrix<T>& found : {by_lu, by_qr}) {
      double size = 1;
      for (index_t i = 0; i < 90; ++i) size = std::max<double>(size, std::abs(found(i, 0)));
      EXPECT_LE(distance(product(a, found), b), 8 * this->bound(90) * size) << seed;
    }
  });
}

TYPED_TEST(TileFactor, EmptyMatricesAndMisuse) {
  using T = TypeParam;
  const auto flat = this->any(3, 4), square = this->any(4, 4);
  const matrix<T> none(0, 0), no_columns(4, 0);
  EXPECT_EQ(tile_lu<T>(none.view()).info(), 0);
  EXPECT_EQ(tile_lu<T>(none.view()).solve(matrix<T>(0, 2)).cols(), 2);
  EXPECT_EQ(tile_qr<T>(no_columns.view()).solve(this->any(4, 2)).rows(), 0);
  EXPECT_EQ(tile_qr<T>(matrix<T>(0, 4).view()).r().cols(), 4);
  EXPECT_THROW(tile_lu<T>(flat.view()), usage_error);
  EXPECT_THROW(tile_lu<T>(square.view(), {.block = -1}), usage_error);
  EXPECT_THROW(tile_lu<T>(square.view(), {.inner = -1}), usage_error);
  EXPECT_THROW(tile_lu<T>(square.view()).solve(flat), usage_error);
  EXPECT_THROW(tile_qr<T>(square.view(), {.block = -1}), usage_error);
  EXPECT_THROW(tile_qr<T>(square.view(), {.inner = -1}), usage_error);
  EXPECT_THROW(tile_qr<T>(square.view(), {.domain = 0}), usage_error);
  EXPECT_THROW(tile_qr<T>(flat.view()).solve(flat), usage_error);
  EXPECT_THROW(tile_qr<T>(square.view()).solve(flat), usage_error);
  if (is_complex<T>) {
    auto b = square;
    EXPECT_THROW(tile_qr<T>(square.view()).apply_q(op::transpose, b.view()), usage_error);
  }
}

}  // namespace
}  // namespace creek::linalg

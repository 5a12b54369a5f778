// SPDX-License-Identifier: Apache-2.0
// Dense linear algebra on the ranks of an MPI run: the results of one process.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <creek/host.hpp>
#include <creek/linalg.hpp>
#include <creek/linalg/grids.hpp>
#include <creek/linalg/ranks.hpp>

#include "mpi/ranks.hpp"

namespace creek {
namespace {

/// Returns an n x n matrix of numbers between -1 and 1.
linalg::matrix<double> random_square(linalg::index_t n, std::mt19937_64& random) {
  std::uniform_real_distribution<double> of(-1, 1);
  linalg::matrix<double> a(n, n);
  for (linalg::index_t j = 0; j < n; ++j) {
    for (linalg::index_t i = 0; i < n; ++i) a(i, j) = of(random);
  }
  return a;
}

/// Returns all grids of the ranks of a communicator.
std::vector<linalg::process_grid> grids_of(const mpi_communicator& all) {
  std::vector<linalg::process_grid> grids;
  for (int rows = 1; rows <= all.size(); ++rows) {
    if (all.size() % rows != 0) continue;
    grids.push_back(linalg::process_grid::of(rows, all.size() / rows, all.rank()));
  }
  return grids;
}

TEST_F(MpiRanks, FactorAsOneProcessDoesBitForBit) {
  using namespace linalg;
  constexpr index_t n = 150, block = 16;
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> of(-1, 1);
  const matrix<double> a = random_square(n, random);
  std::vector<index_t> pivots(n), pivots_here(n);
  matrix<double> factors = a;
  ASSERT_EQ(getrf(factors.view(), pivots, {.block = block}), 0);
  auto mine = scatter_columns<double>(c, a.view(), n, n, block);
  ASSERT_EQ(getrf_on_ranks(c, mine, std::span(pivots_here)), 0);
  EXPECT_EQ(pivots_here, pivots);
  const matrix<double> whole = gather_columns<double>(c, mine);
  if (c.rank() == 0) {
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < n; ++i) ASSERT_EQ(whole(i, j), factors(i, j)) << i << ' ' << j;
    }
  }
  matrix<double> x(n, 2);
  for (index_t i = 0; i < n; ++i) x(i, 0) = x(i, 1) = of(random);
  const matrix<double> b = x;
  getrs_on_ranks(c, mine, std::span<const index_t>(pivots_here), x.view());
  for (index_t i = 0; i < n; ++i) {
    double sum = 0;
    for (index_t j = 0; j < n; ++j) sum += a(i, j) * x(j, 1);
    ASSERT_NEAR(sum, b(i, 1), 1e-10);
  }
}

TEST_F(MpiRanks, SolveOnEveryGrid) {
  using namespace linalg;
  constexpr index_t n = 170, block = 16;
  std::mt19937_64 random(8);
  const matrix<double> a = random_square(n, random);
  std::vector<index_t> pivots(n);
  matrix<double> factors = a;
  ASSERT_EQ(getrf(factors.view(), pivots), 0);
  for (const process_grid& grid : grids_of(c)) {
    std::vector<double> a_here(n * n), b_here(n), bt_here(n);
    const grid_view<double> A(grid, n, n, block, block, a_here.data(), n);
    const grid_view<double> B(grid, n, 1, block, 1, b_here.data(), n);
    const grid_view<double> Bt(grid, n, 1, block, 1, bt_here.data(), n);
    for (index_t i = 0; i < A.rows().local_size(); ++i) {
      const index_t row = A.rows().global(i);
      for (index_t j = 0; j < A.cols().local_size(); ++j) {
        A.local()(i, j) = a(row, A.cols().global(j));
      }
      for (index_t j = 0; j < n; ++j) {
        b_here[static_cast<std::size_t>(i)] += a(row, j);
        bt_here[static_cast<std::size_t>(i)] += a(j, row);
      }
    }
    std::vector<index_t> found(n);
    ASSERT_EQ(getrf_on_grid(c, A, std::span<index_t>(found)), 0);
    EXPECT_EQ(found, pivots);
    getrs_on_grid(c, op::none, A, std::span<const index_t>(found), B);
    getrs_on_grid(c, op::transpose, A, std::span<const index_t>(found), Bt);
    for (index_t i = 0; B.cols().local_size() == 1 && i < B.rows().local_size(); ++i) {
      ASSERT_NEAR(B.local()(i, 0), 1, 1e-9);
      ASSERT_NEAR(Bt.local()(i, 0), 1, 1e-9);
    }
  }
}

TEST_F(MpiRanks, SolveByCholeskyOnEveryGrid) {
  using namespace linalg;
  constexpr index_t n = 130, block = 16;
  std::mt19937_64 random(9);
  matrix<double> a = random_square(n, random);
  for (index_t i = 0; i < n; ++i) a(i, i) = 2.0 * n;
  for (const process_grid& grid : grids_of(c)) {
    for (const triangle stored : {triangle::lower, triangle::upper}) {
      const auto element = [&](index_t i, index_t j) {
        return (i > j) == (stored == triangle::lower) ? a(i, j) : a(j, i);
      };
      std::vector<double> a_here(n * n), b_here(n);
      const grid_view<double> A(grid, n, n, block, block, a_here.data(), n);
      const grid_view<double> B(grid, n, 1, block, 1, b_here.data(), n);
      for (index_t i = 0; i < A.rows().local_size(); ++i) {
        const index_t row = A.rows().global(i);
        for (index_t j = 0; j < A.cols().local_size(); ++j) {
          A.local()(i, j) = a(row, A.cols().global(j));
        }
        for (index_t j = 0; j < n; ++j) b_here[static_cast<std::size_t>(i)] += element(row, j);
      }
      ASSERT_EQ(potrf_on_grid(c, stored, A), 0);
      potrs_on_grid(c, stored, A, B);
      for (index_t i = 0; B.cols().local_size() == 1 && i < B.rows().local_size(); ++i) {
        ASSERT_NEAR(B.local()(i, 0), 1, 1e-12);
      }
    }
  }
}

TEST_F(MpiRanks, MultiplyTransposedOnEveryGrid) {
  using namespace linalg;
  constexpr index_t m = 90, n = 70, depth = 110;
  const auto a = [](index_t i, index_t j) { return static_cast<double>((3 * i + 5 * j) % 11); };
  const auto b = [](index_t i, index_t j) { return static_cast<double>((7 * i + 2 * j) % 13); };
  for (const process_grid& grid : grids_of(c)) {
    std::vector<double> a_here(depth * m), b_here(n * depth), c_here(m * n);
    const grid_view<double> A(grid, depth, m, 16, 8, a_here.data(), depth);
    const grid_view<double> B(grid, n, depth, 12, 16, b_here.data(), n);
    const grid_view<double> C(grid, m, n, 8, 12, c_here.data(), m);
    const auto fill = [](const grid_view<double>& X, auto f) {
      for (index_t j = 0; j < X.cols().local_size(); ++j) {
        for (index_t i = 0; i < X.rows().local_size(); ++i) {
          X.local()(i, j) = f(X.rows().global(i), X.cols().global(j));
        }
      }
    };
    fill(A, a);
    fill(B, b);
    gemm_on_grid(c, op::transpose, op::transpose, 1, A, B, 0, C);
    for (index_t j = 0; j < C.cols().local_size(); ++j) {
      for (index_t i = 0; i < C.rows().local_size(); ++i) {
        double sum = 0;
        for (index_t k = 0; k < depth; ++k) {
          sum += a(k, C.rows().global(i)) * b(C.cols().global(j), k);
        }
        ASSERT_EQ(C.local()(i, j), sum);
      }
    }
  }
}

TEST_F(MpiRanks, FactorByReflectorsOnEveryGrid) {
  using namespace linalg;
  constexpr index_t n = 170, block = 16;
  std::mt19937_64 random(9);
  const matrix<double> a = random_square(n, random);
  std::vector<double> tau(n);
  matrix<double> factors = a;
  geqrf(factors.view(), std::span<double>(tau));
  for (const process_grid& grid : grids_of(c)) {
    std::vector<double> a_here(n * n), b_here(n);
    const grid_view<double> A(grid, n, n, block, block, a_here.data(), n);
    const grid_view<double> B(grid, n, 1, block, 1, b_here.data(), n);
    const auto each = [&](auto f) {
      for (index_t j = 0; j < A.cols().local_size(); ++j) {
        for (index_t i = 0; i < A.rows().local_size(); ++i) {
          f(A.local()(i, j), A.rows().global(i), A.cols().global(j));
        }
      }
    };
    each([&](double& x, index_t i, index_t j) { x = a(i, j); });
    std::vector<double> found(n);
    geqrf_on_grid(c, A, std::span<double>(found));
    each([&](double x, index_t i, index_t j) { ASSERT_NEAR(x, factors(i, j), 1e-10); });
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], tau[i], 1e-10);
    // Q^H times the first column of A is that of R.
    for (index_t i = 0; i < A.rows().local_size(); ++i) {
      b_here[static_cast<std::size_t>(i)] = a(A.rows().global(i), 0);
    }
    ormqr_on_grid(c, op::transpose, A, std::span<const double>(found), B);
    for (index_t i = 0; B.cols().local_size() == 1 && i < B.rows().local_size(); ++i) {
      ASSERT_NEAR(B.local()(i, 0), B.rows().global(i) == 0 ? factors(0, 0) : 0, 1e-11);
    }
  }
}

TEST_F(MpiRanks, ComputeOnWorkersToTheSameBits) {
  using namespace linalg;
  constexpr index_t n = 300, block = 16;
  std::mt19937_64 random(10);
  const matrix<double> a = random_square(n, random);
  runtime rt;
  for (const process_grid& grid : grids_of(c)) {
    std::vector<double> expected;
    for (const grid_options& options : {grid_options{}, grid_options{&rt}}) {
      std::vector<double> found(3 * n * n);
      double* const data = found.data();
      const grid_view<double> A(grid, n, n, block, block, data, n);
      const grid_view<double> B(grid, n, n, block, block, data + n * n, n);
      const grid_view<double> C(grid, n, n, block, block, data + 2 * n * n, n);
      for (const grid_view<double>& X : {A, B, C}) {
        for (index_t j = 0; j < X.cols().local_size(); ++j) {
          for (index_t i = 0; i < X.rows().local_size(); ++i) {
            X.local()(i, j) = a(X.rows().global(i), X.cols().global(j));
          }
        }
      }
      std::vector<double> tau(n);
      std::vector<index_t> pivots(n);
      gemm_on_grid(c, op::transpose, op::none, 1, A, B, 1, C, options);
      geqrf_on_grid(c, B, std::span<double>(tau), options);
      ormqr_on_grid(c, op::transpose, B, std::span<const double>(tau), C, options);
      ASSERT_EQ(getrf_on_grid(c, A, std::span<index_t>(pivots), options), 0);
      getrs_on_grid(c, op::none, A, std::span<const index_t>(pivots), C, options);
      if (options.workers == nullptr) {
        expected = std::move(found);
      } else {
        EXPECT_TRUE(found == expected) << grid.rows << " rows of ranks";
      }
    }
  }
}

}  // namespace
}  // namespace creek

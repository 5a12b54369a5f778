// SPDX-License-Identifier: Apache-2.0
// Products and factorizations on grids of processes: the results of one memory for many grids,
// sizes and blocks; singular and indefinite matrices; NaN; wrong arguments.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/linalg/grids.hpp>

#include "grid_part.hpp"

namespace creek::linalg {
namespace {

using namespace creek::linalg::testing;

/// Expects n rows with elements within 10 n eps of the largest one.
template <class T>
void expect_close(part<T>& found, const matrix<T>& expected) {
  double largest = 0, scale = 0;
  found.each([&](T& x, index_t i, index_t j) {
    const double difference = std::abs(x - expected(i, j));
    largest = difference <= largest ? largest : difference;
    scale = std::max<double>(scale, std::abs(expected(i, j)));
  });
  EXPECT_LE(largest, 10 * eps<T> * scale * static_cast<double>(expected.rows()));
}

template <class T>
class Grids : public ::testing::Test {
 protected:
  std::mt19937 random{2011};
};
TYPED_TEST_SUITE(Grids, scalars);

TEST(GridLayout, CountsAndNumbersAgree) {
  for (const index_t size : {0, 1, 7, 24, 50}) {
    for (const index_t block : {1, 3, 8}) {
      for (int source = 0; source < 3; ++source) {
        std::vector<index_t> seen(3);
        for (index_t i = 0; i < size; ++i) {
          cyclic_axis axis{size, block, source, 3, 0};
          axis.here = axis.owner(i);
          index_t& count = seen[static_cast<std::size_t>(axis.here)];
          EXPECT_EQ(axis.before(i), count);
          EXPECT_EQ(axis.global(count), i);
          ++count;
        }
        for (int p = 0; p < 3; ++p) {
          const cyclic_axis axis{size, block, source, 3, p};
          EXPECT_EQ(axis.local_size(), seen[static_cast<std::size_t>(p)]);
        }
      }
    }
  }
}

constexpr op ops[] = {op::none, op::transpose, op::conjugate_transpose};

TYPED_TEST(Grids, ProductsAreThoseOfOneMemory) {
  using T = TypeParam;
  const auto shaped = [&](op how, index_t rows, index_t cols) {
    if (how != op::none) std::swap(rows, cols);
    return random_matrix<T>(rows, cols, this->random);
  };
  const auto c0 = random_matrix<T>(37, 41, this->random);
  for (const int depth : {29, 290}) {  // one step of the sum, and several
    for (const op how_a : ops) {
      for (const op how_b : ops) {
        const auto a = shaped(how_a, 37, depth), b = shaped(how_b, depth, 41);
        auto expected = c0;
        gemm<T>(how_a, how_b, T(2), a, b, T(-1), expected.view());
        on_grids([&](host_communicator& c, const process_grid& grid) {
          const bool plain_a = how_a == op::none, plain_b = how_b == op::none;
          part<T> A(grid, a, plain_a ? 5 : 4, plain_a ? 4 : 5, grid.rows - 1, grid.cols / 2);
          part<T> B(grid, b, plain_b ? 4 : 7, plain_b ? 7 : 4, grid.rows / 2, grid.cols - 1);
          part<T> C(grid, c0, 5, 7, grid.rows - 1, grid.cols - 1);
          gemm_on_grid<host_communicator, T>(c, how_a, how_b, T(2), A.view, B.view, T(-1), C.view);
          expect_close(C, expected);
        });
      }
    }
  }
}

TYPED_TEST(Grids, ProductsWithoutElements) {
  using T = TypeParam;
  const matrix<T> none(9, 0), wide(0, 11);
  auto c0 = random_matrix<T>(9, 11, this->random);
  const auto c1 = sum(T(3), c0, T(0), c0);
  const auto nan = std::numeric_limits<real<T>>::quiet_NaN();
  const auto left = random_matrix<T>(6, 9, this->random),
             right = random_matrix<T>(11, 6, this->random);
  const auto all_nan = sum(T(nan), c0, T(0), c0);
  auto expected = c0;
  gemm<T>(op::transpose, op::transpose, T(1), left, right, T(0), expected.view());
  on_grids([&](host_communicator& c, const process_grid& grid) {
    using H = host_communicator;
    // Without an inner dimension C is scaled; beta == 0 does not read it.
    part<T> A(grid, none, 4, 3), B(grid, wide, 3, 2), C(grid, c0, 4, 2), D(grid, all_nan, 4, 2);
    gemm_on_grid<H, T>(c, op::none, op::none, T(1), A.view, B.view, T(3), C.view);
    expect_close(C, c1);
    gemm_on_grid<H, T>(c, op::none, op::none, T(1), A.view, B.view, T(0), D.view);
    expect_close(D, matrix<T>(9, 11));
    part<T> L(grid, left, 3, 4), R(grid, right, 2, 3), N(grid, all_nan, 4, 2);
    gemm_on_grid<H, T>(c, op::transpose, op::transpose, T(1), L.view, R.view, T(0), N.view);
    expect_close(N, expected);
    // C without columns.
    part<T> E(grid, matrix<T>(0, 6), 2, 3), F(grid, none, 4, 2);
    gemm_on_grid<H, T>(c, op::transpose, op::transpose, T(1), L.view, E.view, T(1), F.view);
  });
}

TYPED_TEST(Grids, LuIsThatOfOneMemory) {
  using T = TypeParam;
  for (const auto& size : {std::pair{1, 1}, std::pair{50, 50}, std::pair{64, 41}, std::pair{41, 64},
                           std::pair{96, 96}}) {
    const auto a = random_matrix<T>(size.first, size.second, this->random);
    auto expected = a;
    std::vector<index_t> pivots(static_cast<std::size_t>(std::min(size.first, size.second)));
    ASSERT_EQ(getrf<T>(expected.view(), pivots), 0);
    for (const index_t block : {3, 16, 40}) {
      on_grids([&](host_communicator& c, const process_grid& grid) {
        part<T> A(grid, a, block, block, grid.rows - 1, grid.cols - 1);
        std::vector<index_t> found(pivots.size(), -1);
        EXPECT_EQ((getrf_on_grid<host_communicator, T>(c, A.view, found)), 0);
        EXPECT_EQ(found, pivots);
        expect_near(A, expected);
      });
    }
  }
}

struct system_size {
  index_t n, right_hand_sides, block;
};
constexpr system_size systems[] = {{53, 9, 8}, {7, 3, 8}, {64, 1, 16}, {40, 0, 8}, {0, 3, 4}};

TYPED_TEST(Grids, SystemsAreSolved) {
  using T = TypeParam;
  for (const auto& size : systems) {
    const index_t n = size.n;
    auto a = random_matrix<T>(n, n, this->random);
    for (index_t i = 0; i < n; ++i) a((i + 11) % n, i) += T(static_cast<real<T>>(2 * n));
    const auto x = random_matrix<T>(n, size.right_hand_sides, this->random);
    for (const op how : ops) {
      const auto b = product(applied(how, a), x);
      on_grids([&](host_communicator& c, const process_grid& grid) {
        part<T> A(grid, a, size.block, size.block, grid.rows - 1, grid.cols / 2);
        part<T> B(grid, b, size.block, 2, grid.rows - 1, grid.cols - 1);
        std::vector<index_t> pivots(static_cast<std::size_t>(n));
        ASSERT_EQ((getrf_on_grid<host_communicator, T>(c, A.view, pivots)), 0);
        getrs_on_grid<host_communicator, T>(c, how, A.view, pivots, B.view);
        expect_close(B, x);
      });
    }
  }
}

TYPED_TEST(Grids, DefiniteSystemsAreSolved) {
  using T = TypeParam;
  for (const auto& size : systems) {
    const index_t n = size.n;
    const auto whole = random_matrix<T>(n, n, this->random);
    auto a = sum(T(1), whole, T(1), applied(op::conjugate_transpose, whole));
    for (index_t i = 0; i < n; ++i) a(i, i) = static_cast<real<T>>(4 * n);
    const auto x = random_matrix<T>(n, size.right_hand_sides, this->random);
    const auto b = product(a, x);
    for (const triangle stored : {triangle::lower, triangle::upper}) {
      auto factor = whole;  // the other triangle has other numbers
      for (index_t j = 0; j < n; ++j) {
        for (index_t i = 0; i < n; ++i) {
          if (i == j || (i > j) == (stored == triangle::lower)) factor(i, j) = a(i, j);
        }
      }
      ASSERT_EQ(potrf<T>(stored, factor.view()), 0);
      on_grids([&](host_communicator& c, const process_grid& grid) {
        part<T> A(grid, factor, size.block, size.block, grid.rows - 1, grid.cols / 2);
        part<T> B(grid, b, size.block, 2, grid.rows - 1, grid.cols - 1);
        potrs_on_grid<host_communicator, T>(c, stored, A.view, B.view);
        expect_close(B, x);
      });
    }
  }
}

TYPED_TEST(Grids, CholeskyIsThatOfOneMemory) {
  using T = TypeParam;
  for (const index_t n : {0, 1, 48, 77}) {
    auto whole = random_matrix<T>(n, n, this->random);
    for (index_t j = 0; j < n; ++j) whole(j, j) = static_cast<real<T>>(2 * n);
    for (const triangle stored : {triangle::lower, triangle::upper}) {
      const bool lower = stored == triangle::lower;
      auto a = whole;
      // A NaN elsewhere would spread if it were used.
      for (index_t j = 0; j < n; ++j) {
        for (index_t i = 0; i < n; ++i) {
          if (i != j && (i > j) != lower) a(i, j) = std::numeric_limits<real<T>>::quiet_NaN();
        }
      }
      auto expected = a;
      ASSERT_EQ(potrf<T>(stored, expected.view()), 0);
      for (const index_t block : {5, 16}) {
        on_grids([&](host_communicator& c, const process_grid& grid) {
          part<T> A(grid, a, block, block, grid.rows - 1, grid.cols / 2);
          EXPECT_EQ((potrf_on_grid<host_communicator, T>(c, stored, A.view)), 0);
          A.each([&](T& element, index_t i, index_t j) {
            if (i != j && (i > j) != lower) {
              EXPECT_TRUE(std::isnan(std::real(element)));
            } else {
              EXPECT_LE(std::abs(element - expected(i, j)),
                        10 * eps<T> * static_cast<double>(n) * std::sqrt(2.0 * n));
            }
          });
        });
      }
    }
  }
}

TEST(GridErrors, SingularAndIndefiniteMatricesAreSaidOnEveryRank) {
  const index_t n = 40;
  std::mt19937 random{5};
  auto a = random_matrix<double>(n, n, random);
  for (index_t i = 0; i < n; ++i) a(i, 20) = 0;
  auto definite = random_matrix<double>(n, n, random);
  for (index_t j = 0; j < n; ++j) definite(j, j) = 2.0 * n;
  definite(25, 25) = -1;
  on_grids([&](host_communicator& c, const process_grid& grid) {
    part<double> A(grid, a, 8, 8), D(grid, definite, 8, 8);
    std::vector<index_t> pivots(n);
    EXPECT_EQ((getrf_on_grid<host_communicator, double>(c, A.view, pivots)), 21);
    EXPECT_EQ((potrf_on_grid<host_communicator, double>(c, triangle::lower, D.view)), 26);
    part<double> E(grid, definite, 8, 8);
    EXPECT_EQ((potrf_on_grid<host_communicator, double>(c, triangle::upper, E.view)), 26);
  });
}

TEST(GridErrors, PivotsWithoutAReciprocalDivide) {
  const index_t n = 9;
  std::mt19937 random{8};
  auto a = random_matrix<double>(n, n, random);
  for (index_t i = 0; i < n; ++i) a(i, 0) = std::ldexp(static_cast<double>(i + 1), -1060);
  on_grids([&](host_communicator& c, const process_grid& grid) {
    part<double> A(grid, a, 2, 2);
    std::vector<index_t> pivots(n);
    EXPECT_EQ((getrf_on_grid<host_communicator, double>(c, A.view, pivots)), 0);
    EXPECT_EQ(pivots[0], n - 1);
    double largest = 0;
    A.each([&](double& x, index_t i, index_t j) {
      if (i > j) largest = std::abs(x) <= largest ? largest : std::abs(x);
    });
    EXPECT_LE(largest, 1);
  });
}

TEST(GridErrors, NanSpreadsAndEveryRankEnds) {
  const index_t n = 30;
  std::mt19937 random{6};
  auto a = random_matrix<double>(n, n, random);
  a(17, 3) = std::numeric_limits<double>::quiet_NaN();
  on_grids([&](host_communicator& c, const process_grid& grid) {
    part<double> A(grid, a, 4, 4);
    std::vector<index_t> pivots(n);
    EXPECT_EQ((getrf_on_grid<host_communicator, double>(c, A.view, pivots)), 0);
    EXPECT_EQ(pivots[3], 17);
    A.each([&](double& x, index_t i, index_t j) {
      if (i == n - 1 && j == n - 1) {
        EXPECT_TRUE(std::isnan(x));
      }
    });
  });
}

TEST(GridErrors, WrongArgumentsAreRefusedOnEveryRank) {
  std::mt19937 random{7};
  const auto a = random_matrix<double>(12, 12, random);
  on_grids([&](host_communicator& c, const process_grid& grid) {
    part<double> A(grid, a, 4, 4), wide(grid, a, 4, 3);
    std::vector<index_t> pivots(12);
    using C = host_communicator;
    const std::span<index_t> few(pivots.data(), 11);
    EXPECT_THROW((void)(getrf_on_grid<C, double>(c, wide.view, pivots)), usage_error);
    EXPECT_THROW((void)(getrf_on_grid<C, double>(c, A.view, few)), usage_error);
    EXPECT_THROW((void)(potrf_on_grid<C, double>(c, triangle::upper, wide.view)), usage_error);
    const auto product = [&](op how_a, op how_b, const part<double>& X, const part<double>& Y) {
      gemm_on_grid<C, double>(c, how_a, how_b, 1, X.view, Y.view, 0, A.view);
    };
    EXPECT_THROW(product(op::none, op::none, A, wide), usage_error);
    EXPECT_THROW(product(op::none, op::none, wide, A), usage_error);
    EXPECT_THROW(product(op::transpose, op::none, wide, A), usage_error);
    part<double> tall(grid, a, 3, 4);
    EXPECT_THROW(product(op::none, op::transpose, A, tall), usage_error);
    EXPECT_THROW(product(op::none, op::transpose, A, wide), usage_error);
    for (const index_t wrong : {-1, 12}) {
      std::fill(pivots.begin(), pivots.end(), 11);
      pivots[3] = wrong;
      EXPECT_THROW((getrs_on_grid<C, double>(c, op::transpose, A.view, pivots, A.view)),
                   usage_error);
    }
    part<double> B(grid, a, 3, 2), elsewhere_too(grid, a, 4, 4, grid.rows - 1);
    EXPECT_THROW((potrs_on_grid<C, double>(c, triangle::lower, wide.view, A.view)), usage_error);
    EXPECT_THROW((potrs_on_grid<C, double>(c, triangle::upper, A.view, B.view)), usage_error);
    if (grid.rows > 1) {
      EXPECT_THROW(product(op::none, op::none, elsewhere_too, A), usage_error);
      EXPECT_THROW((potrs_on_grid<C, double>(c, triangle::upper, A.view, elsewhere_too.view)),
                   usage_error);
    }
    const auto none = process_grid::of(1, 0, c.rank());
    EXPECT_EQ(none.cols, 0);
    double one = 0;
    EXPECT_THROW(grid_view<double>(grid, 12, 12, 4, 4, &one, 1), usage_error);
    EXPECT_THROW(grid_view<double>(grid, 12, 12, 0, 4, &one, 12), usage_error);
    const process_grid larger{grid.rows, grid.cols + 1, 0, 0};
    part<double> elsewhere(larger, a, 4, 4);
    EXPECT_THROW((void)(potrf_on_grid<C, double>(c, triangle::lower, elsewhere.view)), usage_error);
  });
}

}  // namespace
}  // namespace creek::linalg

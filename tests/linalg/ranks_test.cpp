// SPDX-License-Identifier: Apache-2.0
// Factorizations on ranks that send each other messages: the same bits as in one memory, for any
// number of ranks, block, look-ahead and route; awkward sizes; singular matrices;
// solutions; wrong arguments.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/host/spmd.hpp>
#include <creek/linalg/cholesky.hpp>
#include <creek/linalg/lu.hpp>
#include <creek/linalg/qr.hpp>
#include <creek/linalg/ranks.hpp>

#include "random_matrix.hpp"
#include "support/few_cases.hpp"

namespace creek::linalg {
namespace {

using namespace creek::linalg::testing;

template <class T>
bool same_bits(const matrix<T>& a, const matrix<T>& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
  for (index_t j = 0; j < a.cols(); ++j) {
    for (index_t i = 0; i < a.rows(); ++i) {
      if (a(i, j) != b(i, j)) return false;
    }
  }
  return true;
}

/// Returns a Hermitian matrix, positive definite by its diagonal.
template <class T>
matrix<T> definite_matrix(index_t n, std::mt19937& random) {
  matrix<T> a = random_matrix<T>(n, n, random);
  for (index_t j = 0; j < n; ++j) {
    for (index_t i = 0; i < j; ++i) a(i, j) = testing::conjugated(a(j, i));
    a(j, j) = static_cast<real<T>>(2 * n);
  }
  return a;
}

template <class T>
class Ranks : public ::testing::Test {
 protected:
  std::mt19937 random{4711};

  struct lu_result {
    matrix<T> factors;
    std::vector<index_t> pivots;
    index_t info = 0;
  };

  static lu_result lu_by(int ranks, const matrix<T>& a, index_t block,
                         const rank_options& options) {
    lu_result made;
    spmd(ranks, [&](host_communicator& c) {
      auto mine = scatter_columns<T>(c, a.view(), a.rows(), a.cols(), block);
      std::vector<index_t> pivots(static_cast<std::size_t>(std::min(a.rows(), a.cols())), -1);
      const index_t info = getrf_on_ranks(c, mine, std::span<index_t>(pivots), options);
      EXPECT_EQ(c.bcast(info, 0), info);
      matrix<T> whole = gather_columns(c, mine);
      if (c.rank() == 0) made = {std::move(whole), pivots, info};
    });
    return made;
  }
  void check_lu(int ranks, index_t m, index_t n, index_t block, const rank_options& options = {}) {
    const auto a = random_matrix<T>(m, n, random);
    auto expected = a;
    std::vector<index_t> pivots(static_cast<std::size_t>(std::min(m, n)), -1);
    const index_t info = getrf(expected.view(), std::span<index_t>(pivots), {.block = block});
    const lu_result found = lu_by(ranks, a, block, options);
    EXPECT_EQ(found.info, info);
    EXPECT_EQ(found.pivots, pivots);
    EXPECT_TRUE(same_bits(found.factors, expected)) << m << " x " << n << " on " << ranks;
  }
  void check_cholesky(int ranks, index_t n, index_t block, const rank_options& options = {}) {
    const auto a = definite_matrix<T>(n, random);
    auto expected = a;
    ASSERT_EQ(potrf(triangle::lower, expected.view(), {.block = block}), 0);
    spmd(ranks, [&](host_communicator& c) {
      auto mine = scatter_columns<T>(c, a.view(), n, n, block);
      EXPECT_EQ(potrf_on_ranks(c, mine, options), 0);
      const matrix<T> whole = gather_columns(c, mine);
      if (c.rank() != 0) return;
      EXPECT_TRUE(same_bits(only(triangle::lower, diagonal::stored, whole),
                            only(triangle::lower, diagonal::stored, expected)))
          << n << " on " << ranks;
    });
  }
  void check_qr(int ranks, index_t m, index_t n, index_t block, const rank_options& options = {}) {
    const auto a = random_matrix<T>(m, n, random);
    auto expected = a;
    const auto places = static_cast<std::size_t>(std::min(m, n));
    std::vector<T> tau(places);
    geqrf(expected.view(), std::span<T>(tau), {.block = block});
    spmd(ranks, [&](host_communicator& c) {
      auto mine = scatter_columns<T>(c, a.view(), m, n, block);
      std::vector<T> found(places);
      geqrf_on_ranks(c, mine, std::span<T>(found), options);
      const matrix<T> whole = gather_columns(c, mine);
      EXPECT_EQ(found, tau);
      if (c.rank() == 0) {
        EXPECT_TRUE(same_bits(whole, expected)) << m << " x " << n << " on " << ranks;
      }
    });
  }
};

TYPED_TEST_SUITE(Ranks, scalars);

// Blocks that getrf() and potrf() do not round up (48 is a multiple of every micro-tile's rows).
TYPED_TEST(Ranks, LuHasTheBitsOfOneMemory) {
  for (const int ranks : {1, 2, 3, 5, 8}) {
    this->check_lu(ranks, 100, 100, 16);
    this->check_lu(ranks, 130, 70, 8);
    this->check_lu(ranks, 70, 130, 24);
  }
}

TYPED_TEST(Ranks, CholeskyHasTheBitsOfOneMemory) {
  for (const int ranks : {1, 2, 3, 5, 8}) {
    this->check_cholesky(ranks, 144, 48);
    this->check_cholesky(ranks, 211, 48);
  }
}

TYPED_TEST(Ranks, QrHasTheBitsOfOneMemory) {
  for (const int ranks : {1, 2, 3, 5, 8}) {
    this->check_qr(ranks, 100, 100, 16);
    this->check_qr(ranks, 130, 70, 10);
    this->check_qr(ranks, 70, 130, 24);
  }
}

TYPED_TEST(Ranks, EveryRouteAndLookAheadGivesTheSame) {
  for (const auto route :
       {broadcast_kind::simple, broadcast_kind::chain, broadcast_kind::binary_tree,
        broadcast_kind::two_tree, broadcast_kind::binomial}) {
    for (const bool next_first : {true, false}) {
      for (const int ahead : {0, 1, 4}) {
        if (creek::support::few_cases && next_first == (ahead == 1)) continue;
        const rank_options options{ahead, route, next_first, 1000};
        this->check_lu(6, 90, 90, 8, options);
        this->check_cholesky(3, 150, 48, options);
        this->check_qr(6, 61, 61, 7, options);
      }
    }
  }
}

TYPED_TEST(Ranks, SizesThatDoNotDivide) {
  for (const index_t n : {0, 1, 2, 7, 9}) {
    for (const int ranks : {1, 4, 7}) {
      this->check_lu(ranks, n, n, 8);
      this->check_cholesky(ranks, n, 48);
      this->check_qr(ranks, n, n, 3);
      this->check_lu(ranks, n, 20, 8);
      this->check_lu(ranks, 20, n, 8);
    }
  }
}

TYPED_TEST(Ranks, SolvesWhereTheFactorsLie) {
  using T = TypeParam;
  const index_t n = 75, sides = 3;
  const auto a = random_matrix<T>(n, n, this->random);
  const auto definite = definite_matrix<T>(n, this->random);
  const auto tall = random_matrix<T>(n + 20, n, this->random);
  const auto x = random_matrix<T>(n, sides, this->random);
  const auto close = [&](const matrix<T>& b) {
    return distance<T>(b.view().block(0, 0, n, sides), x.view());
  };
  for (const int ranks : {1, 2, 5}) {
    spmd(ranks, [&](host_communicator& c) {
      // On ranks other than 0 the right-hand sides may be anything.
      const auto sides_of = [&](const matrix<T>& m) {
        return c.rank() == 0 ? product(m, x) : matrix<T>(m.rows(), sides);
      };
      auto mine = scatter_columns<T>(c, a.view(), n, n, 8);
      std::vector<index_t> pivots(n);
      ASSERT_EQ(getrf_on_ranks(c, mine, std::span<index_t>(pivots)), 0);
      auto b = sides_of(a);
      getrs_on_ranks(c, mine, std::span<const index_t>(pivots), b.view());
      EXPECT_LE(close(b), 1e4 * n * eps<T>);

      mine = scatter_columns<T>(c, definite.view(), n, n, 10);
      ASSERT_EQ(potrf_on_ranks(c, mine), 0);
      b = sides_of(definite);
      potrs_on_ranks(c, mine, b.view());
      EXPECT_LE(close(b), 1e2 * n * eps<T>);

      mine = scatter_columns<T>(c, tall.view(), n + 20, n, 9);
      std::vector<T> tau(n);
      geqrf_on_ranks(c, mine, std::span<T>(tau));
      b = sides_of(tall);
      geqrs_on_ranks(c, mine, std::span<const T>(tau), b.view());
      EXPECT_LE(close(b), 1e4 * n * eps<T>);
    });
  }
}

TYPED_TEST(Ranks, InfoOfSingularMatricesIsTheSameOnAllRanks) {
  using T = TypeParam;
  auto singular = random_matrix<T>(60, 60, this->random);
  for (index_t i = 0; i < 60; ++i) singular(i, 22) = T{};
  auto indefinite = definite_matrix<T>(150, this->random);
  indefinite(99, 99) = T{-1};
  std::vector<index_t> pivots(60);
  auto expected = singular;
  const index_t info = getrf(expected.view(), std::span<index_t>(pivots), {.block = 8});
  ASSERT_EQ(info, 23);
  for (const int ranks : {1, 4, 7}) {
    const auto found = this->lu_by(ranks, singular, 8, {});
    EXPECT_EQ(found.info, info);
    EXPECT_EQ(found.pivots, pivots);
    spmd(ranks, [&](host_communicator& c) {
      auto mine = scatter_columns<T>(c, indefinite.view(), 150, 150, 8);
      EXPECT_EQ(potrf_on_ranks(c, mine), 100);
    });
  }
}

TYPED_TEST(Ranks, AboveTheDiagonalBlocksCholeskyDoesNotLook) {
  using T = TypeParam;
  auto a = definite_matrix<T>(40, this->random);
  auto expected = a;
  ASSERT_EQ(potrf(triangle::lower, expected.view(), {.block = 48}), 0);
  constexpr auto nan = std::numeric_limits<real<T>>::quiet_NaN();
  for (index_t j = 0; j < 40; ++j) {
    for (index_t i = 0; i < j / 8 * 8; ++i) a(i, j) = nan;
  }
  spmd(3, [&](host_communicator& c) {
    auto mine = scatter_columns<T>(c, a.view(), 40, 40, 8);
    EXPECT_EQ(potrf_on_ranks(c, mine), 0);
    const matrix<T> whole = gather_columns(c, mine);
    if (c.rank() != 0) return;
    EXPECT_LE(distance(only(triangle::lower, diagonal::stored, whole),
                       only(triangle::lower, diagonal::stored, expected)),
              100 * eps<T>);
  });
}

TEST(RankColumns, AreOneBlockIfThatIsWiderThanTheMatrix) {
  std::mt19937 random{7};
  const auto a = random_matrix<double>(9, 9, random);
  constexpr index_t wide = std::numeric_limits<index_t>::max();
  spmd(3, [&](host_communicator& c) {
    auto mine = scatter_columns<double>(c, a.view(), 9, 9, wide);
    EXPECT_EQ(mine.blocks(), 1);
    EXPECT_EQ(mine.own_columns_from(0), c.rank() == 0 ? 9 : 0);
    std::vector<index_t> pivots(9), expected_pivots(9);
    EXPECT_EQ(getrf_on_ranks(c, mine, std::span<index_t>(pivots)), 0);
    auto expected = a;
    EXPECT_EQ(getrf<double>(expected.view(), std::span<index_t>(expected_pivots)), 0);
    EXPECT_EQ(pivots, expected_pivots);
  });
}

/// Expects every rank to throw, and none to wait for another.
void expect_misuse(const std::function<void(host_communicator&)>& call) {
  std::atomic<int> thrown{0};
  spmd(3, [&](host_communicator& c) {
    EXPECT_THROW(call(c), usage_error);
    ++thrown;
  });
  EXPECT_EQ(thrown, 3);
}

TEST(RankMisuse, IsToldOnEveryRank) {
  const auto part = [](host_communicator& c, index_t m, index_t n) {
    return rank_columns<double>(m, n, 4, c.rank(), c.size());
  };
  std::vector<index_t> pivots(10);
  std::vector<double> tau(10);
  expect_misuse([](host_communicator& c) {
    (void)scatter_columns<double>(c, matrix<double>(3, 3).view(), 3, 3, 0);
  });
  expect_misuse([](host_communicator& c) {
    (void)scatter_columns<double>(c, matrix<double>().view(), -1, 3, 1);
  });
  expect_misuse([&](host_communicator& c) {
    auto a = part(c, 10, 10);
    std::vector<index_t> few(9);
    (void)getrf_on_ranks(c, a, std::span<index_t>(few));
  });
  expect_misuse([&](host_communicator& c) {
    auto a = part(c, 10, 10);
    std::vector<index_t> own(10);
    (void)getrf_on_ranks(c, a, std::span<index_t>(own), {.look_ahead = -1});
  });
  expect_misuse([&](host_communicator& c) {
    auto a = part(c, 10, 10);
    (void)potrf_on_ranks(c, a, {.piece_bytes = 0});
  });
  expect_misuse([&](host_communicator& c) {
    auto a = part(c, 10, 9);
    (void)potrf_on_ranks(c, a);
  });
  expect_misuse([&](host_communicator& c) {  // created for another number of ranks
    rank_columns<double> a(10, 10, 4, c.rank(), 7);
    (void)potrf_on_ranks(c, a);
  });
  expect_misuse([&](host_communicator& c) {
    auto a = part(c, 9, 10);
    matrix<double> b(9, 1);
    geqrs_on_ranks(c, a, std::span<const double>(tau), b.view());
  });
  expect_misuse([&](host_communicator& c) {
    auto a = part(c, 10, 10);
    matrix<double> b(9, 1);
    getrs_on_ranks(c, a, std::span<const index_t>(pivots), b.view());
  });
}

}  // namespace
}  // namespace creek::linalg

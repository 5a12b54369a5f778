// SPDX-License-Identifier: Apache-2.0
// Routines on grids whose processes have workers, some more than others and some none: the same
// bits as without.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include <creek/host.hpp>
#include <creek/linalg/grids.hpp>

#include "grid_part.hpp"

namespace creek::linalg {
namespace {

using namespace creek::linalg::testing;
using H = host_communicator;

template <class T>
class GridWorkers : public ::testing::Test {
 protected:
  /// Large enough for several strips of columns at a process.
  static constexpr index_t n = 300, block = 20;

  /// `body` appends to a process's results, with the options that it is given.
  template <class Body>
  void expect_same_bits(Body body) {
    for (const auto& shape : {std::array{1, 1}, {1, 2}, {2, 1}, {2, 2}}) {
      SCOPED_TRACE(std::to_string(shape[0]) + " x " + std::to_string(shape[1]));
      spmd(shape[0] * shape[1], [&](H& c) {
        const auto grid = process_grid::of(shape[0], shape[1], c.rank());
        std::vector<T> expected;
        body(c, grid, expected, grid_options{});
        ASSERT_FALSE(expected.empty() && c.rank() == 0);
        for (const unsigned i : {2U, 3U}) {
          const unsigned workers = (i + static_cast<unsigned>(c.rank())) % 4;
          std::unique_ptr<runtime> rt;
          if (workers > 0) rt = std::make_unique<runtime>(host(workers));
          std::vector<T> found;
          body(c, grid, found, grid_options{rt.get()});
          EXPECT_TRUE(found == expected) << workers << " workers at rank " << c.rank();
        }
      });
    }
  }
  static void append(part<T>& from, std::vector<T>& to) {
    from.each([&](const T& x, index_t, index_t) { to.push_back(x); });
  }
  std::mt19937 random{2012};
};
TYPED_TEST_SUITE(GridWorkers, scalars);

TYPED_TEST(GridWorkers, MultiplyToTheSameBits) {
  using T = TypeParam;
  constexpr index_t n = TestFixture::n, block = TestFixture::block;
  const auto a = random_matrix<T>(n, n, this->random), b = random_matrix<T>(n, n, this->random);
  for (const op how : {op::none, op::transpose}) {
    this->expect_same_bits([&](H& c, const process_grid& grid, auto& to, const auto& options) {
      part<T> A(grid, a, block, block), B(grid, b, block, block), C(grid, b, block, block);
      gemm_on_grid<H, T>(c, how, op::none, T(2), A.view, B.view, T(3), C.view, options);
      this->append(C, to);
    });
  }
}

TYPED_TEST(GridWorkers, FactorAndSolveToTheSameBits) {
  using T = TypeParam;
  constexpr index_t n = TestFixture::n, block = TestFixture::block;
  const auto a = random_matrix<T>(n, n, this->random), b = random_matrix<T>(n, 90, this->random);
  this->expect_same_bits([&](H& c, const process_grid& grid, auto& to, const auto& options) {
    part<T> A(grid, a, block, block), B(grid, b, block, 16);
    std::vector<index_t> pivots(static_cast<std::size_t>(n));
    EXPECT_EQ((getrf_on_grid<H, T>(c, A.view, std::span(pivots), options)), 0);
    for (const op how : {op::none, op::conjugate_transpose}) {
      getrs_on_grid<H, T>(c, how, A.view, pivots, B.view, options);
    }
    this->append(A, to);
    this->append(B, to);
  });
}

TYPED_TEST(GridWorkers, FactorAPositiveMatrixToTheSameBits) {
  using T = TypeParam;
  constexpr index_t n = TestFixture::n, block = TestFixture::block;
  auto a = random_matrix<T>(n, n, this->random);
  for (index_t i = 0; i < n; ++i) a(i, i) = T(2 * n);
  const auto b = random_matrix<T>(n, 90, this->random);
  for (const triangle stored : {triangle::lower, triangle::upper}) {
    this->expect_same_bits([&](H& c, const process_grid& grid, auto& to, const auto& options) {
      part<T> A(grid, a, block, block), B(grid, b, block, 16);
      EXPECT_EQ((potrf_on_grid<H, T>(c, stored, A.view, options)), 0);
      potrs_on_grid<H, T>(c, stored, A.view, B.view, options);
      this->append(A, to);
      this->append(B, to);
    });
  }
}

TYPED_TEST(GridWorkers, FactorByReflectorsToTheSameBits) {
  using T = TypeParam;
  constexpr index_t n = TestFixture::n, block = TestFixture::block;
  const auto a = random_matrix<T>(n, n, this->random), b = random_matrix<T>(n, 90, this->random);
  this->expect_same_bits([&](H& c, const process_grid& grid, auto& to, const auto& options) {
    part<T> A(grid, a, block, block), B(grid, b, block, 16);
    std::vector<T> tau(static_cast<std::size_t>(n));
    geqrf_on_grid<H, T>(c, A.view, tau, options);
    ormqr_on_grid<H, T>(c, op::conjugate_transpose, A.view, tau, B.view, options);
    ormqr_on_grid<H, T>(c, op::none, A.view, tau, B.view, options);
    this->append(A, to);
    this->append(B, to);
  });
}

TEST(GridJob, PassesOnWhatAPieceThrows) {
  runtime rt{host{2}};
  for (runtime* const workers : {static_cast<runtime*>(nullptr), &rt}) {
    detail::grid_job job(workers, 10, [](index_t i) {
      if (i == 7) throw std::runtime_error("seven");
    });
    EXPECT_THROW(job.finish(), std::runtime_error);
  }
}

TEST(GridJob, EndsAfterItsPieces) {
  runtime rt{host{2}};
  std::vector<int> done(50);
  {
    const detail::grid_job job(&rt, 50, [&](index_t i) { done[static_cast<std::size_t>(i)] = 1; });
  }
  EXPECT_EQ(done, std::vector<int>(50, 1));
}

TEST(GridJob, PushesMessagesUntilThereAreNone) {
  runtime rt{host{2}};
  std::atomic<bool> is_received{false};
  // The piece waits for the message, which this thread has to push.
  detail::grid_job job(&rt, 1, [&](index_t) { is_received.wait(false); });
  int pushes = 0;
  job.finish([&] {
    if (++pushes == 3) {
      is_received = true;
      is_received.notify_all();
    }
    return pushes < 3;
  });
  EXPECT_EQ(pushes, 3);
}

}  // namespace
}  // namespace creek::linalg

// SPDX-License-Identifier: Apache-2.0
// Matrices of tiles and their parts hold the right elements.
#include <creek/linalg/tile_matrix.hpp>

#include <gtest/gtest.h>

#include <cstdint>

#include <creek/core/error.hpp>
#include <creek/host.hpp>
#include <creek/linalg/partition.hpp>
#include <creek/tasking/runtime.hpp>

#include "random_matrix.hpp"

namespace creek::linalg {
namespace {

using testing::distance;
using testing::random_matrix;

template <class T>
class tile_matrix_of : public ::testing::Test {};
TYPED_TEST_SUITE(tile_matrix_of, testing::scalars);

TYPED_TEST(tile_matrix_of, gives_back_what_was_copied_in) {
  using T = TypeParam;
  std::mt19937 random(1);
  runtime workers{host({.workers = 2})};
  for (const auto [m, n, size] : {std::array<index_t, 3>{0, 0, 3},
                                  {0, 5, 2},
                                  {5, 0, 2},
                                  {1, 1, 1},
                                  {1, 1, 9},
                                  {7, 20, 7},
                                  {20, 7, 6},
                                  {64, 33, 16},
                                  {50, 50, 64}}) {
    const matrix<T> A = random_matrix<T>(m, n, random);
    const tile_matrix<T> tiles =
        workers.run([&, size = size] { return tile_matrix<T>(A.view(), size); });
    for (index_t j = 0; j < tiles.tile_cols(); ++j) {
      for (index_t i = 0; i < tiles.tile_rows(); ++i) {
        const const_view<T> tile = tiles.tile(i, j);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tile.data()) % 64, 0U);
        EXPECT_EQ(tile.leading(), tile.rows());
        EXPECT_EQ(distance<T>(tile, A.view().block(i * size, j * size, tile.rows(), tile.cols())),
                  0);
      }
    }
    const tile_matrix<T> copied = tiles;
    matrix<T> back(m, n);
    copied.copy_to(back);
    EXPECT_EQ(distance(A, back), 0) << m << " x " << n << " in tiles of " << size;
  }
}

TYPED_TEST(tile_matrix_of, parts_tile_the_matrix_in_every_step) {
  using T = TypeParam;
  std::mt19937 random(2);
  for (const auto [m, n] : {std::array<index_t, 2>{10, 10}, {11, 7}, {7, 11}, {3, 3}, {12, 4}}) {
    const index_t size = 4;
    const matrix<T> A = random_matrix<T>(m, n, random);
    const tile_matrix<T> tiles(A.view(), size);
    EXPECT_EQ(steps(tiles.view()), steps(A.view(), size));
    for (index_t k = 0; k < steps(tiles.view()); ++k) {
      const auto whole = partition(A.view(), k, size);
      const auto parts = partition(tiles.view(), k);
      const auto same = [](const_view<T> a, const_tile_view<T> b) {
        matrix<T> back(b.rows(), b.cols());
        copy<T>(b, back.view());
        EXPECT_EQ(a.rows(), b.rows());
        EXPECT_EQ(a.cols(), b.cols());
        EXPECT_EQ(distance<T>(a, back.view()), 0);
      };
      same(whole.A00, parts.A00), same(whole.A01, parts.A01), same(whole.A02, parts.A02);
      same(whole.A10, parts.A10), same(whole.A11, parts.A11), same(whole.A12, parts.A12);
      same(whole.A20, parts.A20), same(whole.A21, parts.A21), same(whole.A22, parts.A22);
      EXPECT_EQ(parts.A00.rows() + parts.A11.rows() + parts.A22.rows(), m);
      EXPECT_EQ(parts.A00.cols() + parts.A11.cols() + parts.A22.cols(), n);
      if (!parts.A21.empty()) {
        EXPECT_EQ(parts.A21.tile().data(), tiles.tile(k + 1, k).data());
      }
      const auto rows = partition_rows(tiles.view(), k);
      const auto cols = partition_cols(tiles.view(), k);
      same(A.view().block(k * size, 0, rows.A1.rows(), n), rows.A1);
      same(A.view().block(0, k * size, m, cols.A1.cols()), cols.A1);
      EXPECT_EQ(rows.A2.rows() + cols.A2.cols(), parts.A22.rows() + parts.A22.cols());
    }
  }
}

TEST(tile_matrix, refuses_shapes_that_do_not_fit) {
  EXPECT_THROW((tile_matrix<double>(4, 4, -1)), usage_error);
  EXPECT_THROW((tile_matrix<double>(-1, 4, 2)), usage_error);
  EXPECT_THROW((tile_matrix<double>(PTRDIFF_MAX / 4, PTRDIFF_MAX / 4, 2)), std::bad_alloc);
  matrix<double> other(4, 5);
  const tile_matrix<double> A(4, 4, 3);
  EXPECT_THROW(A.copy_to(other), usage_error);
}

TEST(tile_matrix, begins_with_zeros_and_moves_its_memory) {
  tile_matrix<float> A(5, 4, 3);
  EXPECT_EQ(A(4, 3), 0);
  A(4, 3) = 7;
  const float* const place = A.tile(1, 1).data();
  const tile_matrix<float> B = std::move(A);
  EXPECT_EQ(B.tile(1, 1).data(), place);
  EXPECT_EQ(B(4, 3), 7);
}

}  // namespace
}  // namespace creek::linalg

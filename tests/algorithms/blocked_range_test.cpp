// SPDX-License-Identifier: Apache-2.0
// Loops over tiles: a partition of the rectangle into tiles of the requested size.
#include <creek/tasking/blocked_range.hpp>

#include <atomic>
#include <limits>
#include <stdexcept>
#include <vector>

#include "on_workers.hpp"

namespace {

using creek::blocked_range_2d;
using creek::parallel_for;
using creek::support::on_workers;

TEST(blocked_range_2d, tiles_cover_each_index_pair_once) {
  on_workers([] {
    for (int rows : {0, 1, 2, 7, 8, 9, 33}) {
      for (int cols : {0, 1, 5, 16, 17, 40}) {
        std::vector<std::atomic<int>> seen(static_cast<std::size_t>(rows * cols));
        const blocked_range_2d<int> space{-3, rows - 3, 10, cols + 10, 8, 16};
        parallel_for(space, [&](const blocked_range_2d<int>& tile) {
          EXPECT_FALSE(tile.empty());
          EXPECT_LE(tile.row_last - tile.row_first, 8);
          EXPECT_LE(tile.col_last - tile.col_first, 16);
          for (int i : tile.rows()) {
            for (int j : tile.cols()) ++seen[static_cast<std::size_t>((i + 3) * cols + j - 10)];
          }
        });
        for (const auto& count : seen) EXPECT_EQ(count.load(), 1);
      }
    }
  });
}

TEST(blocked_range_2d, inverted_sides_are_empty_and_tile_size_0_counts_as_1) {
  on_workers([] {
    parallel_for(blocked_range_2d<int>{5, 1, 0, 9}, [](const auto&) { FAIL(); });
    EXPECT_TRUE((blocked_range_2d<int>{5, 1, 0, 9}.empty()));
    std::atomic<int> tiles{0};
    parallel_for(blocked_range_2d<int>{0, 3, 0, 4, 0, 0}, [&](const auto&) { ++tiles; });
    EXPECT_EQ(tiles.load(), 12);
  });
}

TEST(blocked_range_2d, handles_the_limits_of_the_index_type) {
  on_workers([] {
    using index = std::int64_t;
    constexpr index top = std::numeric_limits<index>::max(),
                    bottom = std::numeric_limits<index>::min();
    const blocked_range_2d<index> space{bottom, top, top - 3, top, std::size_t{1} << 62, 2};
    std::atomic<int> tiles{0};
    parallel_for(space, [&](const auto& tile) {
      EXPECT_FALSE(tile.empty());
      ++tiles;
    });
    EXPECT_EQ(tiles.load(), 4 * 2);
  });
}

TEST(blocked_range_2d, transposes) {
  on_workers([] {
    constexpr std::size_t n = 130, m = 75;
    std::vector<std::size_t> a(n * m), b(m * n);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = i;
    parallel_for(blocked_range_2d<std::size_t>{0, n, 0, m, 16, 16}, [&](const auto& tile) {
      for (auto i : tile.rows()) {
        for (auto j : tile.cols()) b[j * n + i] = a[i * m + j];
      }
    });
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < m; ++j) ASSERT_EQ(b[j * n + i], i * m + j);
    }
  });
}

TEST(blocked_range_2d, rethrows_and_stops) {
  on_workers([] {
    const blocked_range_2d<int> space{0, 100, 0, 100, 1, 1};
    EXPECT_THROW(parallel_for(space, [](const auto&) { throw std::runtime_error("tile"); }),
                 std::runtime_error);
    std::stop_source source;
    std::atomic<int> tiles{0};
    parallel_for(space,
                 [&](const auto&) {
                   ++tiles;
                   source.request_stop();
                 },
                 {.stop = source.get_token()});
    EXPECT_LE(tiles.load(), static_cast<int>(creek::worker_count()));
  });
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Blocks of all sizes, allocated and freed in random order.
#include <creek/core/io/block_pool.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <random>
#include <thread>
#include <vector>

namespace creek {
namespace {

/// Allocates and frees blocks in random order, checks that they are zeros, marks them and checks
/// the marks.
void use(block_pool& pool, std::uint64_t seed, int rounds) {
  struct block {
    unsigned char* at;
    std::size_t bytes;
    unsigned char mark;
  };
  std::mt19937_64 random(seed);
  std::vector<block> live;
  const auto check_and_free = [&](std::size_t i) {
    const block gone = live[i];
    EXPECT_EQ(gone.at[0], gone.mark);
    EXPECT_EQ(gone.at[gone.bytes / 2], gone.mark);
    EXPECT_EQ(gone.at[gone.bytes - 1], gone.mark);
    pool.free(gone.at, gone.bytes);
    live[i] = live.back();
    live.pop_back();
  };
  for (int round = 0; round < rounds; ++round) {
    if (live.size() > 50 || (!live.empty() && random() % 3 == 0)) {
      check_and_free(random() % live.size());
    }
    // A few bytes up to several large pages, often exactly a power of two.
    const std::size_t power = std::size_t{1} << (4 + random() % 19);
    const std::size_t bytes = random() % 2 == 0 ? power : power + random() % power;
    auto* const at = static_cast<unsigned char*>(pool.allocate(bytes));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % 64, 0u);
    EXPECT_TRUE(std::all_of(at, at + bytes, [](unsigned char byte) { return byte == 0; }));
    const auto mark = static_cast<unsigned char>(random());
    at[0] = at[bytes / 2] = at[bytes - 1] = mark;
    live.push_back({at, bytes, mark});
  }
  while (!live.empty()) check_and_free(live.size() - 1);
}

TEST(BlockPool, BlocksAreAlignedAndDoNotOverlap) {
  block_pool pool;
  use(pool, 1, 3000);
}

TEST(BlockPool, ServesSeveralThreads) {
  block_pool pool;
  std::vector<std::jthread> threads;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&pool, seed] { use(pool, seed, 500); });
  }
}

TEST(BlockPool, RefusesImpossibleSizes) {
  block_pool pool;
  EXPECT_THROW((void)pool.allocate(~std::size_t{0}), std::bad_alloc);
  EXPECT_THROW((void)pool.allocate(std::size_t{1} << 62), std::bad_alloc);
}

}  // namespace
}  // namespace creek

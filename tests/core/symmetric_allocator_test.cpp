// SPDX-License-Identifier: Apache-2.0
// The allocator of message-passing memory against an oracle of its lines.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include <creek/core/messages/symmetric_allocator.hpp>

namespace {

using creek::mpm_block;
using creek::symmetric_allocator;

TEST(SymmetricAllocator, RoundsUpToLines) {
  symmetric_allocator allocator{128, 1024, 32};
  const auto block = allocator.allocate(33);
  ASSERT_TRUE(block);
  EXPECT_EQ(block->offset(), 128u);
  EXPECT_EQ(block->bytes(), 64u);
  EXPECT_EQ(allocator.allocate(0)->bytes(), 32u);
}

TEST(SymmetricAllocator, SaysSoWhenItRunsOut) {
  symmetric_allocator allocator{0, 256, 32};
  const auto most = allocator.allocate(224);
  ASSERT_TRUE(most);
  EXPECT_FALSE(allocator.allocate(64));
  EXPECT_TRUE(allocator.allocate(32));
  EXPECT_FALSE(allocator.allocate(257));
  EXPECT_FALSE(allocator.allocate(static_cast<std::size_t>(-8)));
}

TEST(SymmetricAllocator, GivesTheSameOffsetsForTheSameCalls) {
  symmetric_allocator one{0, 8192, 32}, two{0, 8192, 32};
  std::mt19937 random{5};
  std::vector<mpm_block> held_one, held_two;
  for (int step = 0; step < 5000; ++step) {
    if (random() % 2 == 0 || held_one.empty()) {
      const std::size_t bytes = random() % 1000;
      auto a = one.allocate(bytes), b = two.allocate(bytes);
      ASSERT_EQ(a.has_value(), b.has_value());
      if (!a) continue;
      ASSERT_EQ(a->offset(), b->offset());
      held_one.push_back(std::move(*a));
      held_two.push_back(std::move(*b));
    } else {
      const std::size_t victim = random() % held_one.size();
      std::swap(held_one[victim], held_one.back());
      std::swap(held_two[victim], held_two.back());
      held_one.pop_back();
      held_two.pop_back();
    }
  }
}

TEST(SymmetricAllocator, NeverOverlapsAndGetsEverythingBack) {
  symmetric_allocator allocator{64, 4096, 32};
  std::mt19937 random{9};
  std::vector<mpm_block> held;
  std::vector<int> owner(128, 0);
  const auto mark = [&](const mpm_block& block, int by) {
    for (std::size_t line = (block.offset() - 64) / 32, n = block.bytes() / 32; n != 0; --n) {
      ASSERT_EQ(owner.at(line) != 0, by == 0);
      owner[line++] = by;
    }
  };
  for (int step = 0; step < 20'000; ++step) {
    if (auto block = allocator.allocate(random() % 300); block && random() % 3 != 0) {
      mark(*block, 1);
      held.push_back(std::move(*block));
    }
    if (held.size() > 10 || (random() % 4 == 0 && !held.empty())) {
      const std::size_t victim = random() % held.size();
      std::swap(held[victim], held.back());
      mark(held.back(), 0);
      held.pop_back();
    }
  }
  held.clear();
  EXPECT_EQ(allocator.free_bytes(), 4096u);
  EXPECT_TRUE(allocator.allocate(4096));
}

}  // namespace

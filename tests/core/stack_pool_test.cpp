// SPDX-License-Identifier: Apache-2.0
// The pool of stacks: what it keeps, in which bounds, and after a fork().
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include <creek/core/threads/stack_pool.hpp>
#include <creek/core/threads/stack_switch.hpp>

#include "support/guard_marks.hpp"
#include "support/process_facts.hpp"

namespace creek::support {
namespace {

constexpr std::size_t size = std::size_t{256} << 10;

std::vector<std::byte*> take(std::size_t count, std::size_t bytes = size) {
  std::vector<std::byte*> taken;
  for (std::size_t i = 0; i < count; ++i) {
    taken.push_back(take_stack(bytes));
    std::memset(taken.back(), 1, bytes);
  }
  return taken;
}

void give_back(const std::vector<std::byte*>& stacks, std::size_t bytes = size) {
  for (std::byte* low : stacks) give_back_stack(low, bytes);
}

std::set<std::byte*> set_of(const std::vector<std::byte*>& stacks) {
  return {stacks.begin(), stacks.end()};
}

TEST(pooled_stacks, are_used_again) {
  const auto first = take(3);
  give_back(first);
  const auto second = take(3);
  EXPECT_EQ(set_of(second), set_of(first));
  give_back(second);
}

TEST(pooled_stacks, are_mapped_several_at_a_time) {
  const std::size_t bytes = 3 * size;  // of no other test
  const auto one = take(1, bytes);
  give_back(one, bytes);  // it replaces those of other sizes
  ASSERT_EQ(take(1, bytes), one);
  const std::size_t before = mapping_count();
  const auto stacks = take(8, bytes);
  const std::set<std::byte*> sorted = set_of(stacks);
  EXPECT_EQ(*sorted.rbegin() - *sorted.begin(),
            static_cast<std::ptrdiff_t>(7 * (bytes + guard_bytes)));
  if (has_guard_marks() && !under_sanitizer) {
    EXPECT_LE(mapping_count(), before + 2);
  }
  give_back(stacks, bytes);
  give_back(one, bytes);
}

/// Overflows the upper one of two neighbours.
void overflow(bool with_marks) {
  if (!with_marks && !refuse_guard_marks()) std::raise(SIGSEGV);  // cannot be tried here
  const auto stacks = take(2);
  volatile std::byte* const below = std::max(stacks[0], stacks[1]) - 1;
  *below = std::byte{1};
  std::_Exit(0);
}

TEST(pooled_stacks, have_guards) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (const bool with_marks : {true, false}) {
    EXPECT_EXIT(overflow(with_marks), died_of_fault, "") << with_marks;
  }
}

TEST(pooled_stacks, are_of_one_size) {
  give_back(take(4));
  EXPECT_GE(pooled_stacks(), 4U);
  // One of another size replaces them all, and is the one taken next.
  const auto other = take(1, 2 * size);
  give_back(other, 2 * size);
  EXPECT_EQ(pooled_stacks(), 1U);
  const auto again = take(1, 2 * size);
  EXPECT_EQ(again, other);
  EXPECT_EQ(pooled_stacks(), 0U);
  give_back(again, 2 * size);
}

TEST(pooled_stacks, have_a_bound) {
  const std::size_t many = stack_pool_limits::stacks + 20;
  const std::size_t before = mapping_count();
  const auto stacks = take(many);
  give_back(stacks);
  EXPECT_EQ(pooled_stacks(), stack_pool_limits::stacks);
  // At most each kept stack is a mapping and its guard another; a sanitizer maps its shadow too.
  if (!under_sanitizer) {
    EXPECT_LE(mapping_count(), before + 2 * stack_pool_limits::stacks + 20);
  }
  give_back(take(1, size / 2), size / 2);
  EXPECT_EQ(pooled_stacks(), 1U);
}

TEST(pooled_stacks, beyond_the_first_give_their_pages_back) {
  give_back(take(1, size / 2), size / 2);
  const std::size_t before = resident_bytes();
  give_back(take(stack_pool_limits::stacks));
  EXPECT_EQ(pooled_stacks(), stack_pool_limits::stacks);
  if (under_sanitizer) return;  // its shadow is resident too
  EXPECT_LE(resident_bytes(), before + (stack_pool_limits::warm + 4) * size);
}

TEST(pooled_stacks, are_not_large_ones) {
  give_back(take(1));
  const std::size_t before = pooled_stacks();
  const std::size_t large = stack_pool_limits::bytes + size;
  std::byte* const low = take_stack(large);
  give_back_stack(low, large);
  EXPECT_EQ(pooled_stacks(), before);
}

TEST(pooled_stacks, belong_to_one_user_at_a_time) {
  std::vector<std::thread> threads;
  for (int id = 1; id <= 4; ++id) {
    threads.emplace_back([id] {
      for (int round = 0; round < 500; ++round) {
        std::vector<std::byte*> mine;
        for (int i = 0; i < 4; ++i) {
          mine.push_back(take_stack(size));
          *mine.back() = static_cast<std::byte>(id);
        }
        for (std::byte* low : mine) ASSERT_EQ(*low, static_cast<std::byte>(id));
        give_back(mine);
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_LE(pooled_stacks(), stack_pool_limits::stacks);
}

TEST(pooled_stacks, are_there_in_a_child_of_fork) {
  const auto stacks = take(2);
  give_back(stacks);
  const pid_t child = fork();
  if (child == 0) {
    const auto taken = take(2);
    const bool same = set_of(taken) == set_of(stacks);
    give_back(taken);
    _exit(same ? 7 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
}  // namespace creek::support

// SPDX-License-Identifier: Apache-2.0
// Stacks of slabs: few mappings, guards, and what is done without them.
#include <gtest/gtest.h>

#include <signal.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <creek/core/threads/stack_slabs.hpp>

#include "support/guard_marks.hpp"
#include "support/process_facts.hpp"

namespace creek::support {
namespace {

constexpr std::size_t size = std::size_t{64} << 10;

class slabs : public ::testing::Test {
 protected:
  slabs() { ::testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_F(slabs, cut_stacks_that_do_not_overlap) {
  stack_slabs some(size);
  std::vector<std::byte*> stacks;
  for (int i = 0; i < 300; ++i) {
    stacks.push_back(some.take().low);
    ASSERT_NE(stacks.back(), nullptr);
    std::memset(stacks.back(), i % 100 + 1, size);
  }
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    const auto value = static_cast<std::byte>(i % 100 + 1);
    ASSERT_EQ(stacks[i][0], value);
    ASSERT_EQ(stacks[i][size - 1], value);
  }
}

TEST_F(slabs, need_few_mappings_and_only_the_memory_that_is_touched) {
  constexpr std::size_t count = 20000;
  const std::size_t mappings = mapping_count(), resident = resident_bytes();
  const std::size_t space = address_space();
  {
    stack_slabs many(size);
    std::size_t marked = 0;
    const auto has_guard = [&] { return many.take().guarded; };
    while (marked < count && has_guard()) ++marked;
    EXPECT_EQ(marked, has_guard_marks() ? count : stack_slabs::max_mapped_guards);
    if (!under_sanitizer) {
      // A guard that is a mapping of its own cuts its slab in two.
      const std::size_t guards = has_guard_marks() ? 0 : 2 * marked;
      EXPECT_LE(mapping_count(), mappings + guards + 20);
      EXPECT_LE(resident_bytes(), resident + (std::size_t{8} << 20));
    }
  }
  if (!under_sanitizer) {
    EXPECT_LE(address_space(), space + (std::size_t{8} << 20)) << "they were unmapped";
  }
}

TEST_F(slabs, guard_their_stacks) {
  const auto touch_guard = [](std::ptrdiff_t distance) {
    stack_slabs some(size);
    (void)some.take();
    const slab_stack second = some.take();
    if (!second.guarded) std::_Exit(1);
    *const_cast<volatile std::byte*>(second.low - distance) = std::byte{1};
  };
  EXPECT_EXIT(touch_guard(1), died_of_fault, "");
  EXPECT_EXIT(touch_guard(guard_bytes), died_of_fault, "");
}

/// Exits with 0 if the first stacks have guards that are mappings and further ones have none.
void take_without_marks() {
  if (!refuse_guard_marks()) std::_Exit(2);
  for (int round = 0; round < 2; ++round) {  // the bound holds for those that are there
    stack_slabs many(size);
    for (std::size_t i = 0; i < stack_slabs::max_mapped_guards; ++i) {
      if (!many.take().guarded) std::_Exit(3);
    }
    const slab_stack last = many.take();
    if (last.low == nullptr || last.guarded) std::_Exit(4);
    std::memset(last.low, 1, size);
    if (has_overflowed(last.low)) std::_Exit(5);
    last.low[-200] = std::byte{1};
    if (!has_overflowed(last.low)) std::_Exit(6);
  }
  std::_Exit(0);
}

TEST_F(slabs, have_a_bounded_number_of_guards_that_are_mappings) {
  EXPECT_EXIT(take_without_marks(), ::testing::ExitedWithCode(0), "");
}

TEST_F(slabs, say_why_there_is_no_stack) {
  stack_slabs huge(std::size_t{1} << 60);
  errno = 0;
  EXPECT_EQ(huge.take().low, nullptr);
  EXPECT_EQ(errno, ENOMEM);
}

TEST_F(slabs, may_be_cut_by_several_threads) {
  stack_slabs some(size);
  std::vector<std::thread> threads;
  for (int id = 1; id <= 4; ++id) {
    threads.emplace_back([&some, id] {
      std::vector<std::byte*> mine;
      for (int i = 0; i < 200; ++i) {
        mine.push_back(some.take().low);
        *mine.back() = static_cast<std::byte>(id);
      }
      for (std::byte* low : mine) ASSERT_EQ(*low, static_cast<std::byte>(id));
    });
  }
  for (std::thread& each : threads) each.join();
}

}  // namespace
}  // namespace creek::support

// SPDX-License-Identifier: Apache-2.0
// The pool of fibers by itself: nothing runs on them.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

#include "fibers/fiber_pool.hpp"
#include "scheduling/external_deques.hpp"
#include "support/process_facts.hpp"

namespace creek {
namespace {

using host_backend::fiber;
using host_backend::fiber_cache;
using host_backend::fiber_pool;

void never_runs(switch_context&, switch_context&) {
  FAIL() << "nobody switches to these fibers";
}

fiber_pool::setup setup(std::size_t stack_size = std::size_t{16} << 10) {
  return {.stack_size = stack_size,
          .deque_capacity = 8,
          .home = nullptr,
          .entry = &never_runs,
          .external = false,
          .lock_based = false};
}

TEST(fiber_pool, makes_fibers_with_the_stack_and_deque_that_were_asked_for) {
  fiber_pool pool(setup());
  fiber_cache cache;
  fiber* made = pool.take(cache);
  ASSERT_NE(made, nullptr);
  EXPECT_GE(made->stack_size, std::size_t{16} << 10);
  static constexpr ext::task_type never_run{nullptr, "a task that never runs"};
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(made->tasks.push(made->tasks.next_slot(), &never_run, 0)) << i;
  }
  EXPECT_FALSE(made->tasks.push(made->tasks.next_slot(), &never_run, 0)) << "there is no room";
  EXPECT_EQ(made->mpb, nullptr);
}

TEST(fiber_pool, keeps_a_fiber_its_first_frames_and_slots_in_one_page) {
  fiber_pool pool(setup());
  fiber_cache cache;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  for (int i = 0; i < 200; ++i) {  // beyond the pool of stacks too
    fiber* made = pool.take(cache);
    ASSERT_NE(made, nullptr);
    const auto address = reinterpret_cast<std::uintptr_t>(made);
    EXPECT_EQ((reinterpret_cast<std::uintptr_t>(made->tasks.slots() + 4) - 1) / page,
              address / page);
    EXPECT_GE(address % page, page / 2) << "the frames below";
  }
}

TEST(fiber_pool, gives_fibers_a_deque_if_the_lock_based_one_is_used) {
  fiber_pool::setup chosen = setup();
  chosen.external = chosen.lock_based = true;
  fiber_pool pool(chosen);
  fiber_cache cache;
  fiber* made = pool.take(cache);
  ASSERT_NE(made, nullptr);
  ASSERT_NE(made->mpb, nullptr);
  EXPECT_EQ(made->mpb->size(), 0U);
}

TEST(fiber_pool, gives_the_fiber_out_first_that_was_recycled_last) {
  fiber_pool pool(setup());
  fiber_cache cache;
  fiber* one = pool.take(cache);
  fiber* two = pool.take(cache);
  EXPECT_NE(one, two);
  pool.recycle(cache, *one);
  pool.recycle(cache, *two);
  EXPECT_EQ(pool.take(cache), two);
  EXPECT_EQ(pool.take(cache), one);
}

TEST(fiber_pool, hands_what_a_full_cache_cannot_keep_to_other_workers) {
  fiber_pool pool(setup());
  fiber_cache mine, other;
  std::set<fiber*> made;
  while (made.size() < 130) made.insert(pool.take(mine));
  for (fiber* each : made) pool.recycle(mine, *each);
  EXPECT_TRUE(mine.full());
  EXPECT_EQ(made.count(pool.take(other)), 1U);
  EXPECT_EQ(made.count(pool.take(other)), 1U);
  EXPECT_EQ(made.count(pool.take(other)), 0U) << "the rest belongs to the first worker";
}

TEST(fiber_pool, makes_in_advance_what_a_worker_was_found_to_lack) {
  fiber_pool pool(setup());
  fiber_cache cache;
  pool.tend(cache);
  EXPECT_EQ(cache.pop(), nullptr) << "nothing was asked for yet";
  for (int i = 0; i < 3; ++i) pool.take(cache);
  for (int i = 0; i < 9; ++i) pool.tend(cache);
  for (int i = 0; i < 3; ++i) EXPECT_NE(cache.pop(), nullptr);
  EXPECT_EQ(cache.pop(), nullptr);
  for (int i = 0; i < 100; ++i) pool.take(cache);
  for (int i = 0; i < 100; ++i) pool.tend(cache);
  for (int i = 0; i < 8; ++i) EXPECT_NE(cache.pop(), nullptr);
  EXPECT_EQ(cache.pop(), nullptr) << "few are enough";
}

TEST(fiber_pool, hands_what_an_idle_worker_has_too_many_of_to_others) {
  fiber_pool pool(setup());
  fiber_cache mine, other;
  std::set<fiber*> made;
  while (made.size() < 20) made.insert(pool.take(mine));
  for (fiber* each : made) pool.recycle(mine, *each);
  for (int i = 0; i < 100; ++i) pool.tend(mine);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(made.count(pool.take(other)), 1U);
  EXPECT_EQ(made.count(pool.take(other)), 0U);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(made.count(pool.take(mine)), 1U);
}

TEST(fiber_pool, trims_what_idle_workers_hand_on_beyond_the_warm_ones) {
  const std::size_t stack = std::size_t{64} << 10;
  fiber_pool pool(setup(stack));
  fiber_cache cache;
  std::vector<fiber*> made;
  for (int i = 0; i < 700; ++i) made.push_back(pool.take(cache));
  for (fiber* each : made) std::memset(each->stack_low + stack / 2, 1, stack / 2 - 4096);
  const std::size_t before = support::resident_bytes();
  for (fiber* each : made) {
    pool.recycle(cache, *each);
    pool.tend(cache);
  }
  if (!support::under_sanitizer) {
    EXPECT_LT(support::resident_bytes(), before - 150 * (stack / 2));
  }
}

TEST(fiber_pool, makes_none_in_advance_where_the_system_refuses) {
  fiber_pool pool(setup(std::size_t{1} << 60));
  fiber_cache cache;
  EXPECT_EQ(pool.take(cache), nullptr);
  EXPECT_TRUE(cache.has_too_few());
  pool.tend(cache);
  EXPECT_FALSE(cache.has_too_few());
}

TEST(fiber_pool, returns_null_and_the_reason_if_the_system_refuses) {
  fiber_pool pool(setup(std::size_t{1} << 60));
  fiber_cache cache;
  EXPECT_EQ(pool.take(cache), nullptr);
  EXPECT_EQ(errno, ENOMEM);
}

TEST(fiber_pool, counts_the_tasks_that_ran_for_lack_of_room) {
  fiber_pool pool(setup());
  fiber_cache cache;
  for (int i = 0; i < 2; ++i) pool.take(cache)->tasks.record().count_inline_run();
  EXPECT_EQ(pool.inline_runs(), 2U);
}

}  // namespace
}  // namespace creek

// SPDX-License-Identifier: Apache-2.0
// The lock-based deque on host memory: against a sequential oracle, and with thieves.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <random>
#include <thread>
#include <vector>

#include <creek/host/memory.hpp>
#include <creek/tasking/lock_deque.hpp>

namespace {

using creek::core_id;
using creek::steal_result;

struct task {
  std::uint64_t number = 0;
  std::uint64_t check = 0;  // ~number: reveals a torn copy
  std::byte rest[40] = {};

  task() = default;
  explicit task(std::uint64_t n) : number{n}, check{~n} {}
  [[nodiscard]] bool whole() const { return check == ~number; }
};
using deque = creek::lock_deque<creek::host_backend::memory, task>;

struct fixture {
  explicit fixture(std::size_t capacity, int cores = 1)
      : space{cores, {.mpm_bytes = deque::bytes_needed(capacity)}},
        owner{space.core(core_id{0})},
        tasks{core_id{0}, owner.at(core_id{0}, 0), capacity} {
    tasks.reset(owner);
  }
  creek::host_backend::memory_space space;
  creek::host_backend::memory owner;
  deque tasks;
};

TEST(LockDeque, TakesNewestForTheOwnerAndOldestForThieves) {
  fixture f{8, 2};
  auto thief = f.space.core(core_id{1});
  for (std::uint64_t n = 1; n <= 3; ++n) ASSERT_TRUE(f.tasks.push(f.owner, task{n}));
  EXPECT_EQ(f.tasks.approx_size(thief), 3u);
  task got;
  ASSERT_EQ(f.tasks.steal_oldest(thief, got), steal_result::taken);
  EXPECT_EQ(got.number, 1u);
  ASSERT_TRUE(f.tasks.pop_newest(f.owner, got));
  EXPECT_EQ(got.number, 3u);
  ASSERT_TRUE(f.tasks.pop_newest(f.owner, got));
  EXPECT_EQ(got.number, 2u);
  EXPECT_FALSE(f.tasks.pop_newest(f.owner, got));
  EXPECT_EQ(f.tasks.steal_oldest(thief, got), steal_result::empty);
}

TEST(LockDeque, VerifyFindsWhatDoesNotAgree) {
  fixture f{4};
  EXPECT_TRUE(f.tasks.verify(f.owner));
  for (std::uint64_t n = 1; n <= 4; ++n) ASSERT_TRUE(f.tasks.push(f.owner, task{n}));
  EXPECT_TRUE(f.tasks.verify(f.owner));
  const auto head = f.owner.at(core_id{0}, 0).as<creek::word>();
  f.owner.store(head, 5);  // behind the tail, which is 4
  EXPECT_FALSE(f.tasks.verify(f.owner));
  f.owner.store(head, 8);  // no position
  EXPECT_FALSE(f.tasks.verify(f.owner));
  f.owner.store(head, 4);
  EXPECT_TRUE(f.tasks.verify(f.owner));
  const auto tail =
      (f.owner.at(core_id{0}, 0) + creek::host_backend::memory::line_bytes).as<creek::word>();
  f.owner.store(tail, 3);  // not where the owner wrote it
  EXPECT_FALSE(f.tasks.verify(f.owner));
}

TEST(LockDeque, StealsNothingWhileTheLockIsHeld) {
  fixture f{2, 2};
  auto thief = f.space.core(core_id{1});
  ASSERT_TRUE(f.tasks.push(f.owner, task{1}));
  ASSERT_TRUE(f.owner.test_and_set(core_id{0}));
  task got;
  EXPECT_EQ(f.tasks.steal_oldest(thief, got), steal_result::lost);
  f.owner.clear(core_id{0});
  EXPECT_EQ(f.tasks.steal_oldest(thief, got), steal_result::taken);
}

class LockDequeCapacity : public testing::TestWithParam<std::size_t> {};

TEST_P(LockDequeCapacity, AgreesWithASequentialOracle) {
  const std::size_t capacity = GetParam();
  fixture f{capacity, 2};
  auto thief = f.space.core(core_id{1});
  std::deque<std::uint64_t> oracle;
  std::mt19937 random{7};
  std::uint64_t next = 0;
  for (int step = 0; step < 100'000; ++step) {
    task got;
    switch (random() % 5) {
      case 0:
      case 1: {
        const bool pushed = f.tasks.push(f.owner, task{++next});
        ASSERT_EQ(pushed, oracle.size() < capacity);
        if (pushed) oracle.push_back(next);
        break;
      }
      case 2:
      case 3:
        ASSERT_EQ(f.tasks.pop_newest(f.owner, got), !oracle.empty());
        if (oracle.empty()) break;
        ASSERT_EQ(got.number, oracle.back());
        oracle.pop_back();
        break;
      default:
        ASSERT_EQ(f.tasks.steal_oldest(thief, got),
                  oracle.empty() ? steal_result::empty : steal_result::taken);
        if (oracle.empty()) break;
        ASSERT_EQ(got.number, oracle.front());
        oracle.pop_front();
    }
    ASSERT_EQ(f.tasks.approx_size(thief), oracle.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, LockDequeCapacity, testing::Values(1, 2, 3, 10, 64));

// Every task is taken exactly once, as a whole, by whichever thread.
TEST(LockDequeStress, LosesAndDuplicatesNothing) {
  constexpr int thieves = 3;
  constexpr std::uint64_t count = 300'000;
  fixture f{10, thieves + 1};
  std::vector<std::atomic<std::uint8_t>> taken(count);
  std::atomic<bool> done{false};
  const auto take = [&](const task& t) {
    ASSERT_TRUE(t.whole());
    ASSERT_EQ(taken[t.number].fetch_add(1), 0) << t.number;
  };
  std::vector<std::jthread> pool;
  for (int t = 1; t <= thieves; ++t) {
    pool.emplace_back([&, t] {
      auto memory = f.space.core(core_id{t});
      task got;
      while (!done.load(std::memory_order_acquire)) {
        if (f.tasks.steal_oldest(memory, got) == steal_result::taken) {
          take(got);
        } else {
          std::this_thread::yield();
        }
      }
    });
  }
  std::mt19937 random{11};
  task got;
  for (std::uint64_t n = 0; n < count; ++n) {
    if (!f.tasks.push(f.owner, task{n})) take(task{n});
    if (random() % 3 == 0 && f.tasks.pop_newest(f.owner, got)) take(got);
  }
  while (f.tasks.pop_newest(f.owner, got)) take(got);
  done.store(true, std::memory_order_release);
  pool.clear();
  for (std::uint64_t n = 0; n < count; ++n) ASSERT_EQ(taken[n].load(), 1) << n;
}

}  // namespace

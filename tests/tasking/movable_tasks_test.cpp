// SPDX-License-Identifier: Apache-2.0
// Tasks that move between ranks that are host threads, exceptions, and messages that no rank sends.
#include <creek/tasking/movable_tasks.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <random>
#include <stdexcept>

#include <creek/core/error.hpp>
#include <creek/host/spmd.hpp>

#include "movable_tasks_cases.hpp"
#include "support/seed.hpp"

namespace creek {
namespace {

using namespace movable_tasks_cases;

class MovableTasks : public testing::TestWithParam<int> {};

TEST_P(MovableTasks, OnHostThreads) {
  spmd(GetParam(), [](host_communicator& c) { run_all(c); });
}

INSTANTIATE_TEST_SUITE_P(Sizes, MovableTasks, testing::Values(1, 2, 3, 5));

void fail_at(task_bag<void>& bag, int left, const std::string& text) {
  if (left == 0) throw std::runtime_error("a task of " + text);
  for (int i = 0; i < 5; ++i) bag.spawn<&fail_at>(left - 1, text);
}

/// An exception of a task ends the run of its rank; tasks that are left are dropped.
TEST(MovableTasksFailures, EndTheRun) {
  for (const unsigned workers : {0u, 1u, 3u}) {
    std::unique_ptr<runtime> rt;
    if (workers != 0) rt = std::make_unique<runtime>(host{workers});
    const auto body = [&](host_communicator& c) {
      object_space space(c);
      const auto tasks = make_tasks<void>(space, rt.get());
      tasks->spawn<&fail_at>(6, "this rank, whose name is too long for the task");
      try {
        tasks->run();
      } catch (const std::runtime_error& why) {
        EXPECT_STREQ(why.what(), "a task of this rank, whose name is too long for the task");
        throw error(EIO, "as it should");
      }
    };
    for (const int ranks : {1, 3}) {
      if (ranks > 1 && workers != 0) continue;  // ranks would share the workers
      EXPECT_THROW(spmd(ranks, body), std::exception) << workers << ' ' << ranks;
    }
  }
}

struct refuses {
  refuses() = default;
  refuses(const refuses&) { throw std::runtime_error("no copy"); }
  refuses(refuses&&) = default;
  refuses& operator=(refuses&&) = default;
  template <class Archive>
  void serialize(Archive&) {}
};

TEST(MovableTasksFailures, InCopiesOfArgumentsLeaveTheBagAsItWas) {
  detail::movable_bag tasks;
  constexpr auto take = [](task_bag<int>& bag, const refuses&) { ++bag.result(); };
  task_bag<int> bag(tasks);
  const refuses one;
  EXPECT_THROW(bag.spawn<take>(one), std::runtime_error);
  EXPECT_TRUE(tasks.empty());
  bag.spawn<take>(refuses{});
  int runs = 0;
  tasks.result = &runs;
  tasks.run_newest();
  EXPECT_EQ(runs, 1);
  EXPECT_TRUE(tasks.empty());
}

using numbers = std::vector<int>;
void number(task_bag<numbers>& bag, int value, const std::string& text) {
  bag.result().push_back(value);
  bag.result().push_back(static_cast<int>(text.size()));
}

numbers run_all_of(detail::movable_bag& tasks) {
  numbers seen;
  tasks.result = &seen;
  while (!tasks.empty()) tasks.run_newest();
  return seen;
}

TEST(MovableBag, GivesTheOldestAndRunsTheNewest) {
  detail::movable_bag tasks;
  task_bag<numbers> bag(tasks);
  for (int i = 0; i < 5; ++i) bag.spawn<&number>(i, "ab");
  detail::movable_bag older = tasks.split();
  EXPECT_EQ(run_all_of(older), (numbers{1, 2, 0, 2}));
  EXPECT_EQ(run_all_of(tasks), (numbers{4, 2, 3, 2, 2, 2}));
  EXPECT_TRUE(tasks.split().empty());
}

/// Against a plain list: tasks are added, run, given away in messages and taken from them.
TEST(MovableBag, KeepsItsTasksInOrder) {
  const std::uint64_t seed = support::chosen_seed();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  spmd(1, [&](host_communicator& c) {
    object_space space(c);
    detail::movable_bag tasks;
    task_bag<numbers> bag(tasks);
    std::deque<int> expected;
    numbers seen;
    tasks.result = &seen;
    for (int step = 0; step < 20'000; ++step) {
      switch (random() % 8) {
        case 0: {  // the oldest become the newest
          std::vector<std::byte> message;
          const std::size_t count = random() % (expected.size() + 1);
          const std::size_t max_bytes = 1 + random() % 1000;
          const std::size_t given = tasks.encode_oldest(count, max_bytes, message);
          ASSERT_LE(given, count);
          ASSERT_TRUE(given == count || message.size() >= max_bytes);
          ASSERT_EQ(
              tasks.decode(space, {reinterpret_cast<const char*>(message.data()), message.size()}),
              given);
          std::rotate(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(given),
                      expected.end());
          break;
        }
        case 1:
        case 2:
        case 3:
          if (expected.empty()) break;
          seen.clear();
          tasks.run_newest();
          ASSERT_EQ(seen, (numbers{expected.back(), expected.back() % 50}));
          expected.pop_back();
          break;
        default:
          bag.spawn<&number>(step, std::string(static_cast<std::size_t>(step) % 50, 'x'));
          expected.push_back(step);
      }
      ASSERT_EQ(tasks.size(), expected.size());
    }
  });
}

/// A message of tasks with its end cut off, or with a number of a function that has no tasks.
TEST(MovableBag, RefusesMalformedMessages) {
  spmd(1, [](host_communicator& c) {
    object_space space(c);
    detail::movable_bag tasks;
    task_bag<numbers>(tasks).spawn<&number>(7, "abc");
    std::vector<std::byte> message;
    EXPECT_EQ(tasks.encode_oldest(1, 1000, message), 1u);
    const std::string whole(reinterpret_cast<const char*>(message.data()), message.size());
    for (std::size_t length = 1; length < whole.size(); ++length) {
      EXPECT_THROW(tasks.decode(space, whole.substr(0, length)), error) << length;
    }
    EXPECT_TRUE(tasks.empty());
    for (std::uint32_t function = 0; function < 1000; ++function) {
      std::string other = whole;
      std::memcpy(other.data(), &function, sizeof function);
      try {
        tasks.decode(space, other);
      } catch (const error&) {
      }
    }
    tasks.clear();
    EXPECT_EQ(tasks.decode(space, whole), 1u);
    EXPECT_EQ(run_all_of(tasks), (numbers{7, 3}));
  });
}

/// None can be called as a function of an object space.
TEST(MovableBag, FunctionsAreNotCalledFromOtherRanks) {
  for (const detail::rank_function* each : detail::function_table()) {
    if (std::string_view(each->name).find("movable_function") == std::string_view::npos) continue;
    ASSERT_NE(each->object, nullptr);
    EXPECT_TRUE(*each->object == typeid(detail::movable_bag));
  }
}

}  // namespace
}  // namespace creek

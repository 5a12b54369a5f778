// SPDX-License-Identifier: Apache-2.0
// Which ready task a worker takes: by priority, remaining path, order in the program, and where
// its block was written last.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

#include "graph/execution/ready_queues.hpp"

namespace creek::linalg::detail {
namespace {

class ready_tasks : public testing::Test {
 protected:
  graph_task* add(int home, int priority, float path, float weight = 1) {
    graph_task& task = tasks.emplace_back();
    task.number = tasks.size();
    task.home = static_cast<std::int16_t>(home);
    task.priority = priority;
    task.path = path;
    task.weight = weight;
    queues.reserve(tasks.size());
    queues.push(&task);
    return &task;
  }
  std::deque<graph_task> tasks;
  ready_queues queues{2};
};

TEST_F(ready_tasks, own_blocks_before_those_of_others) {
  auto* of_one = add(1, 0, 10);
  auto* of_zero = add(0, 0, 10);
  EXPECT_EQ(queues.pick(0), of_zero);
  EXPECT_EQ(queues.pick(0), of_one);  // none of its own is left
  EXPECT_EQ(queues.pick(0), nullptr);
}

TEST_F(ready_tasks, own_and_homeless_ones_in_order) {
  auto* shorter = add(0, 0, 5);
  auto* first = add(-1, 0, 7);
  auto* second = add(0, 0, 7);
  EXPECT_EQ(queues.pick(0), first);
  EXPECT_EQ(queues.pick(0), second);
  EXPECT_EQ(queues.pick(0), shorter);
}

TEST_F(ready_tasks, a_larger_priority_goes_before_whose_block_it_is) {
  auto* own = add(0, -5, 1000);
  auto* urgent = add(1, -4, 1);
  EXPECT_EQ(queues.pick(0), urgent);
  EXPECT_EQ(queues.pick(0), own);
}

TEST_F(ready_tasks, a_path_that_would_be_late_goes_first) {
  auto* own = add(0, 0, 100, 20);
  auto* near = add(1, 0, 120);
  EXPECT_EQ(queues.pick(0), own);
  own = add(0, 0, 99, 20);
  EXPECT_EQ(queues.pick(0), near);
  EXPECT_EQ(queues.pick(0), own);
}

TEST_F(ready_tasks, refresh_takes_new_paths) {
  auto* first = add(-1, 0, 10);
  auto* second = add(-1, 0, 5);
  second->path = 20;
  queues.refresh();
  EXPECT_EQ(queues.pick(0), second);
  EXPECT_EQ(queues.pick(0), first);
}

TEST_F(ready_tasks, one_worker_takes_them_sorted) {
  std::mt19937 random(7);
  queues.set_workers(1);
  for (int i = 0; i < 1000; ++i) {
    add(static_cast<int>(random() % 3) - 1, static_cast<int>(random() % 5) - 2,
        static_cast<float>(1 + random() % 10));
  }
  const auto key = [](const graph_task& task) {
    return std::tuple(-task.priority, -task.path.load(), task.number);
  };
  const graph_task* last = queues.pick(0);
  for (int i = 1; i < 1000; ++i) {
    const graph_task* next = queues.pick(0);
    ASSERT_NE(next, nullptr);
    ASSERT_LT(key(*last), key(*next));
    last = next;
  }
  EXPECT_EQ(queues.size(), 0U);
}

TEST_F(ready_tasks, verify_finds_what_does_not_agree) {
  auto* task = add(0, 0, 5);
  add(-1, 0, 7);
  EXPECT_TRUE(queues.verify());
  task->pending = 1;  // it waits for a predecessor
  EXPECT_FALSE(queues.verify());
  task->pending = 0;
  task->number = 99;  // the record of another task
  EXPECT_FALSE(queues.verify());
}

}  // namespace
}  // namespace creek::linalg::detail

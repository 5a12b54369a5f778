// SPDX-License-Identifier: Apache-2.0
// The queue of submitted tasks by itself.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "scheduling/ready_work.hpp"

namespace creek {
namespace {

using ext::submitted_task;
using host_backend::submission_queue;

TEST(submission_queue, gives_tasks_in_the_order_of_their_submission) {
  submission_queue queue;
  std::array<submitted_task, 3> tasks;
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.pop(), nullptr);
  for (submitted_task& each : tasks) queue.push(each);
  EXPECT_EQ(queue.size(), 3U);
  for (submitted_task& each : tasks) EXPECT_EQ(queue.pop(), &each);
  EXPECT_TRUE(queue.empty());
}

TEST(submission_queue, takes_a_task_again_after_it_was_empty) {
  submission_queue queue;
  submitted_task task;
  for (int round = 0; round < 3; ++round) {
    queue.push(task);
    EXPECT_EQ(queue.pop(), &task);
    EXPECT_EQ(queue.pop(), nullptr);
  }
}

TEST(submission_queue, hands_each_task_to_one_of_many_threads) {
  constexpr int per_thread = 2000;
  submission_queue queue;
  struct counted_task : submitted_task {
    std::atomic<int> takes{0};
  };
  std::array<std::array<counted_task, per_thread>, 2> tasks;
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
  for (auto& mine : tasks) {
    threads.emplace_back([&] {
      for (counted_task& each : mine) queue.push(each);
    });
    threads.emplace_back([&] {
      while (taken.load() < 2 * per_thread) {
        auto* task = static_cast<counted_task*>(queue.pop());
        if (task == nullptr) continue;
        task->takes.fetch_add(1);
        taken.fetch_add(1);
      }
    });
  }
  for (std::thread& each : threads) each.join();
  for (const auto& mine : tasks) {
    for (const counted_task& each : mine) EXPECT_EQ(each.takes.load(), 1);
  }
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace creek

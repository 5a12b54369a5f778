// SPDX-License-Identifier: Apache-2.0
// One owner against three thieves: the owner forks and spawns along a random tree, thieves steal,
// ask, force and arm at random. Every task runs exactly once and every join finds its task done.
// Meant for ThreadSanitizer as well. CREEK_TEST_SEED replays a run, CREEK_TEST_ROUNDS makes more.
#include <gtest/gtest.h>

#include <iostream>
#include <random>
#include <thread>
#include <vector>

#include "../tasking/fake_home.hpp"
#include "support/seed.hpp"

namespace creek::support {
namespace {

constexpr std::uint32_t tasks_a_round = 20000;
constexpr unsigned thieves = 3;

std::vector<std::atomic<std::uint8_t>> runs(tasks_a_round + 1);
std::atomic<std::uint32_t> finished{0};

void count_run(std::uint32_t id) {
  runs[id].fetch_add(1, std::memory_order_relaxed);
  finished.fetch_add(1, std::memory_order_relaxed);
}

/// Depth-first through a random tree; what is forked here is joined here.
class owner {
 public:
  owner(std::uint64_t seed, lone_stack& tasks) : random_(seed), tasks_(tasks) {}

  void run() {
    while (made_ < tasks_a_round) grow(0);
    while (tasks_.run_newest()) {
    }
  }

 private:
  void grow(int depth) {
    if (made_ == tasks_a_round) return;
    switch (random_() % 4) {
      case 0:
        tasks_.push_spawned(++made_);
        break;
      case 1:
        tasks_.run_newest();
        break;
      default:
        fork(depth);
    }
  }
  void fork(int depth) {
    const std::uint32_t id = ++made_;
    ext::task_slot* slot = tasks_.push_fork(id);
    if (slot == nullptr) {
      count_run(id);
      return;
    }
    for (auto children = random_() % 3; depth < 40 && children > 0; --children) grow(depth + 1);
    (void)tasks_.join(slot);
  }

  std::mt19937_64 random_;
  lone_stack& tasks_;
  std::uint32_t made_ = 0;
};

void thief(std::uint64_t seed, lone_stack& tasks, const std::atomic<bool>& stop) {
  std::mt19937_64 random(seed);
  while (!stop.load(std::memory_order_acquire)) {
    switch (random() % 16) {
      case 0:
        tasks.stack.force_share();
        break;
      case 1:
        tasks.stack.arm();
        break;
      case 2:
        tasks.home.which.store(static_cast<ext::announced_pushes>(random() % 3),
                               std::memory_order_relaxed);
        break;
      case 3:
        std::this_thread::yield();
        break;
      default:
        if (ext::task_slot* slot = tasks.steal()) {
          lone_stack::run_taken(slot);
        } else {
          tasks.stack.ask();
        }
    }
  }
}

class task_stack_stress : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(task_stack_stress, every_task_runs_once) {
  const std::uint64_t seed = chosen_seed();
  const std::uint64_t rounds = number_from("CREEK_TEST_ROUNDS", 20);
  std::cout << "replay with CREEK_TEST_SEED=" << seed << "\n";
  for (std::uint64_t round = 0; round < rounds && !HasFailure(); ++round) {
    for (auto& each : runs) each.store(0, std::memory_order_relaxed);
    finished.store(0, std::memory_order_relaxed);
    lone_stack tasks(GetParam(), count_run);
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < thieves; ++i) {
      threads.emplace_back(thief, seed + 1000 * round + i + 1, std::ref(tasks), std::cref(stop));
    }
    owner(seed + 1000 * round, tasks).run();
    while (finished.load(std::memory_order_relaxed) < tasks_a_round) std::this_thread::yield();
    stop.store(true, std::memory_order_release);
    for (auto& each : threads) each.join();
    for (std::uint32_t id = 1; id <= tasks_a_round; ++id) {
      ASSERT_EQ(runs[id].load(), 1) << "task " << id << ", round " << round;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(capacity, task_stack_stress, ::testing::Values(2, 8, 128));

}  // namespace
}  // namespace creek::support

// SPDX-License-Identifier: Apache-2.0
// Tasks that change blocks in any order, but no two at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <creek/host.hpp>
#include <creek/scc.hpp>
#include <creek/tasking.hpp>

#include "everywhere.hpp"
#include "hash_blocks.hpp"
#include "support/seed.hpp"

namespace creek::linalg::support {
namespace {

struct failed_commuter {};

/// Random tasks, some of which only add to their blocks: in any order these give the same sums.
class sum_program {
 public:
  explicit sum_program(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    blocks_ = 1 + random() % 5;
    const std::size_t adders = 1 + random() % 8;  // of ten
    for (auto tasks = random() % 300; tasks > 0; --tasks) {
      block_task task{{}, {}, random(), static_cast<int>(random() % 3), 1, 0};
      if (random() % 8 == 0) task.length = static_cast<unsigned>(random() % 2000);
      const bool adds = random() % 10 < adders;
      for (auto uses = 1 + random() % 3; uses > 0; --uses) {
        task.blocks.push_back(random() % blocks_);
        task.how.push_back(adds ? access::commutative : static_cast<access>(1 + random() % 3));
      }
      tasks_.push_back(std::move(task));
    }
  }
  std::vector<std::uint64_t> answer() const {
    std::vector<std::uint64_t> values(blocks_);
    for (const block_task& each : tasks_) run(each, values);
    return values;
  }
  /// Also counts the tasks that find another one at their block.
  std::vector<std::uint64_t> run(graph_options options, std::atomic<int>& met) const {
    std::vector<std::uint64_t> values(blocks_);
    std::vector<std::atomic<int>> inside(blocks_);
    task_graph graph(std::move(options));
    for (const block_task& each : tasks_) {
      graph.add({"sum", 1, each.priority}, hash_program::operands_of(each, values), [&] {
        const bool adds = each.how.front() == access::commutative;
        for (const std::size_t block : each.blocks) {
          // The task itself may name a block more than once.
          if (adds && inside[block].fetch_add(1) >= count(each, block)) ++met;
        }
        run(each, values);
        for (const std::size_t block : each.blocks) {
          if (adds) inside[block].fetch_sub(1);
        }
      });
    }
    EXPECT_EQ(graph.wait().tasks, tasks_.size());
    return values;
  }

 private:
  static int count(const block_task& task, std::size_t block) {
    return static_cast<int>(std::count(task.blocks.begin(), task.blocks.end(), block));
  }
  static void run(const block_task& task, std::vector<std::uint64_t>& values) {
    if (task.how.front() != access::commutative) return hash_program::run(task, values);
    std::uint64_t rest = 0;
    for (unsigned i = 0; i < task.length; ++i) rest = mix(rest, i);
    for (const std::size_t block : task.blocks) values[block] += task.salt + (rest & 1);
  }

  std::size_t blocks_;
  std::vector<block_task> tasks_;
};

TEST(task_graph_commutative, gives_the_answer_of_the_sequential_program) {
  const std::uint64_t seed = creek::support::chosen_seed();
  std::cout << "replay with CREEK_TEST_SEED=" << seed << "\n";
  std::mt19937_64 random(seed);
  constexpr std::size_t windows[] = {1, 2, 5, 33, 4096};
  for (const std::string& backend : creek::backends()) {
    for (const unsigned workers : {1U, 2U, 3U, 4U}) {
      SCOPED_TRACE(backend + ", workers = " + std::to_string(workers));
      scheduler_options scheduler;
      scheduler.workers = workers;
      runtime rt(scheduler, backend);
      auto round = creek::support::number_from("CREEK_TEST_ROUNDS", backend == "scc" ? 5 : 50);
      for (; round > 0; --round) {
        const sum_program program(random());
        const graph_options options{.window = windows[random() % 5]};
        std::atomic<int> met{0};
        ASSERT_EQ(rt.run([&] { return program.run(options, met); }), program.answer());
        ASSERT_EQ(met.load(), 0);
      }
    }
  }
}

TEST(task_graph_commutative, goes_by_priority_and_stays_between_other_accesses) {
  int block = 0;
  std::string order;
  task_graph graph;
  const auto add = [&](operand how, int priority, char name) {
    graph.add({"", 1, priority}, {how}, [&order, name] { order += name; });
  };
  add(commutative(&block), 0, 'a');
  add(commutative(&block), 2, 'b');
  add(commutative(&block), 1, 'c');
  add(in(&block), 9, 'r');
  add(commutative(&block), 3, 'd');
  add(commutative(&block), 4, 'e');
  add(inout(&block), 9, 'w');
  graph.wait();
  EXPECT_EQ(order, "bcaredw");
}

// The second task would run next and has to wait: no worker waits with it.
TEST(task_graph_commutative, a_task_that_has_to_wait_is_put_aside) {
  runtime rt(host{2});
  for (int round = 0; round < 50; ++round) {
    int block = 0;
    rt.run([&] {
      task_graph graph;
      std::atomic<bool> held{false}, released{false};
      graph.add({"", 1, 3}, {commutative(&block)}, [&] {
        held = true;
        while (!released.load()) std::this_thread::yield();
        ++block;
      });
      while (!held.load()) std::this_thread::yield();
      graph.add({"", 1, 2}, {commutative(&block)}, [&] { ++block; });
      graph.add({"", 1, 1}, {commutative(&block)}, [&] { ++block; });
      graph.add({"", 1, 0}, {}, [&] { released = true; });
      graph.wait();
    });
    ASSERT_EQ(block, 3);
  }
}

TEST(task_graph_commutative, a_failure_gives_the_block_back) {
  for (const std::size_t window : {1U, 2U, 100U}) {
    everywhere([=] {
      int block = 0, other = 0, valid = 0;
      task_graph graph({.window = window});
      graph.add({}, {in(&block)}, [] { throw failed_commuter{}; });  // readers spoil nothing
      for (int i = 0; i < 5; ++i) graph.add({}, {commutative(&block)}, [&] { ++block; });
      graph.add({}, {in(&block), out(&valid)}, [&] { valid = block; });
      graph.add({}, {commutative(&block)}, [] { throw failed_commuter{}; });
      graph.add({}, {commutative(&other)}, [&] { ++other; });
      graph.add({}, {in(&block)}, [&] { block = 100; });           // not run
      graph.add({}, {commutative(&block)}, [&] { block = 200; });  // not run
      graph.add({}, {out(&block)}, [&] { block = 7; });
      graph.add({}, {commutative(&block)}, [&] { ++block; });
      EXPECT_THROW(graph.wait(), failed_commuter);
      EXPECT_EQ(valid, 5);
      EXPECT_EQ(other, 1);
      EXPECT_EQ(block, 8);
    });
  }
}

TEST(task_graph_commutative, cancelled) {
  everywhere([] {
    int block = 0;
    task_graph graph;
    for (int i = 0; i < 100; ++i) {
      graph.add({}, {commutative(&block)}, [&] {
        if (++block == 10) graph.cancel();
      });
    }
    EXPECT_EQ(graph.wait().skipped, 90U);
    EXPECT_EQ(block, 10);
  });
}

TEST(task_graph_commutative, dry_run_finds_no_order_among_them) {
  int block = 0;
  task_graph graph({.dry_run = true});
  const auto add = [&](operand how) { graph.add({"", 1}, {how}, [] {}); };
  add(out(&block));          // 0
  add(commutative(&block));  // 1: after 0
  add(commutative(&block));  // 2: after 0
  add(in(&block));           // 3: after 1 and 2
  add(in(&block));           // 4: after 1 and 2
  add(commutative(&block));  // 5: after all these
  add(commutative(&block));  // 6: too
  add(inout(&block));        // 7: after 5 and 6
  const graph_report report = graph.wait();
  EXPECT_EQ(report.edges, 2U + 4U + 8U + 2U);
  EXPECT_EQ(report.depth, 5U);
}

TEST(task_graph_commutative, views_that_overlap_are_ordered) {
  runtime rt(host{3});
  for (int round = 0; round < 20; ++round) {
    matrix<double> a(4, 4);
    const matrix_view<double> whole = a.view(), part = whole.block(1, 1, 2, 2);
    rt.run([&] {
      task_graph graph;
      for (int i = 0; i < 50; ++i) {
        graph.add({}, {commutative(part)}, [=] { part(0, 0) += 1; });
        graph.add({}, {commutative(part)}, [=] { part(0, 0) += 2; });
        graph.add({}, {commutative(whole)}, [=] { whole(1, 1) *= 0.5; });
      }
      graph.wait();
    });
    double expected = 0;
    for (int i = 0; i < 50; ++i) expected = (expected + 3) * 0.5;
    ASSERT_EQ(a(1, 1), expected);
  }
}

TEST(task_graph_commutative, memory_follows_the_window_and_not_the_program) {
  runtime(host{2}).run([] {
    std::vector<int> blocks(50'000);
    task_graph graph({.window = 64});
    for (std::size_t i = 1; i < blocks.size(); ++i) {
      graph.add({}, {commutative(&blocks[i]), commutative(&blocks[0])}, [&, i] {
        ++blocks[i];
        ++blocks[0];
      });
    }
    const graph_report report = graph.wait();
    EXPECT_EQ(blocks[0], 49'999);
    EXPECT_LT(report.peak_bytes, std::size_t{8} << 20);
  });
}

}  // namespace
}  // namespace creek::linalg::support

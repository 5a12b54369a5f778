// SPDX-License-Identifier: Apache-2.0
// Guarantees of a task graph, case by case: order, bounds, misuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <numeric>
#include <string>
#include <thread>

#include <creek/core/error.hpp>
#include <creek/host.hpp>
#include <creek/tasking.hpp>

#include "hash_blocks.hpp"

namespace creek::linalg::support {
namespace {

using testing::ElementsAre;

TEST(task_graph, without_tasks) {
  task_graph graph;
  EXPECT_EQ(graph.wait().tasks, 0U);
  EXPECT_EQ(graph.wait().tasks, 0U);
}

TEST(task_graph, runs_on_a_plain_thread) {
  for (const std::size_t window : {1U, 3U, 4096U}) {
    const hash_program program(5, 500, 10);
    std::vector<std::uint64_t> values(program.blocks());
    task_graph graph({.window = window});
    program.add_to(graph, values);
    const graph_report report = graph.wait();
    EXPECT_EQ(values, program.answer());
    EXPECT_EQ(report.workers, 1U);
    EXPECT_LE(report.peak_unfinished, window);
  }
}

TEST(task_graph, one_worker_runs_by_priority_and_then_in_the_order_of_the_program) {
  const auto run = [] {
    std::vector<int> order;
    task_graph graph;
    const auto note = [&](int id) { return [&order, id] { order.push_back(id); }; };
    graph.add({"a", 10, 0}, {}, note(0));
    graph.add({"b", 99, 0}, {}, note(1));
    graph.add({"c", 1, 5}, {}, note(2));
    graph.add({"d", 1, -1}, {}, note(3));
    graph.add({"e", 1, 5}, {}, note(4));
    graph.wait();
    return order;
  };
  EXPECT_THAT(run(), ElementsAre(2, 4, 0, 1, 3));
  EXPECT_THAT(runtime(host{1}).run(run), ElementsAre(2, 4, 0, 1, 3));
}

TEST(task_graph, the_longest_remaining_path_goes_first) {
  std::vector<std::string> order;
  runtime(host{2}).run([&] {
    task_graph graph;
    std::array<char, 2> blocks{};
    std::atomic<bool> held{false}, released{false};
    // The other worker is blocked, so this one runs all the rest.
    graph.add({}, {}, [&] {
      held = true;
      while (!released.load()) std::this_thread::yield();
    });
    while (!held.load()) std::this_thread::yield();
    const auto note = [&](const char* name) { return [&order, name] { order.push_back(name); }; };
    graph.add({"short", 30}, {inout(&blocks[0])}, note("short"));
    graph.add({"long", 1}, {inout(&blocks[1])}, note("long"));
    graph.add({"second", 10}, {inout(&blocks[1])}, note("second"));
    graph.add({"third", 25}, {inout(&blocks[1])}, note("third"));
    graph.add({"last", 0, -1}, {}, [&] { released = true; });
    graph.wait();
  });
  EXPECT_THAT(order, ElementsAre("long", "second", "short", "third"));
}

TEST(task_graph, a_writer_waits_for_all_readers_and_readers_run_at_once) {
  runtime rt(host{2});
  int block = 1;
  std::array<int, 2> seen{};
  rt.run([&] {
    task_graph graph;
    std::atomic<int> inside{0};
    for (int& each : seen) {
      graph.add({}, {in(&block), out(&each)}, [&] {
        // Each task waits for the other: run one after the other they would never end.
        ++inside;
        while (inside.load() < 2) std::this_thread::yield();
        each = block;
      });
    }
    graph.add({}, {out(&block)}, [&] { block = 2; });
    graph.add({}, {out(&block)}, [&] { block *= 3; });
    graph.wait();
  });
  EXPECT_THAT(seen, ElementsAre(1, 1));
  EXPECT_EQ(block, 6);
}

TEST(task_graph, bodies_of_any_size_and_kind) {
  auto alive = std::make_shared<int>(0);
  int sum = 0;
  {
    task_graph graph;
    std::array<int, 100> large{};
    std::iota(large.begin(), large.end(), 0);
    graph.add({}, {inout(&sum)},
              [&sum, large, alive] { sum = std::accumulate(large.begin(), large.end(), sum); });
    graph.add({}, {inout(&sum)}, [&sum, only = std::make_unique<int>(50), alive] { sum += *only; });
    graph.wait();
  }
  EXPECT_EQ(sum, 5000);
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(task_graph, memory_follows_the_window_and_not_the_program) {
  const auto bytes_of = [](std::size_t tasks) {
    return runtime(host{2}).run([=] {
      // Many blocks, each used once, and one that all tasks read.
      const std::vector<char> blocks(tasks);
      task_graph graph({.window = 64});
      for (std::size_t i = 0; i < tasks; ++i) {
        graph.add({}, {in(&blocks[0]), inout(&blocks[i]), in(&blocks[i / 2])}, [] {});
      }
      const graph_report report = graph.wait();
      EXPECT_LE(report.peak_unfinished, 64U);
      return report.peak_bytes;
    });
  };
  EXPECT_LT(bytes_of(400'000), std::size_t{8} << 20);
}

TEST(task_graph, tells_what_ran_when) {
  runtime rt(host{2});
  int block = 0;
  const graph_report report = rt.run([&] {
    task_graph graph({.record = true});
    for (int i = 0; i < 50; ++i) graph.add({"step", 2}, {inout(&block)}, [&] { ++block; });
    return graph.wait();
  });
  EXPECT_EQ(report.flops, 100);
  ASSERT_EQ(report.runs.size(), 50U);
  for (std::size_t i = 0; i < 50; ++i) {
    const task_run& run = report.runs[i];
    EXPECT_EQ(run.number, i);
    EXPECT_STREQ(run.name, "step");
    EXPECT_FALSE(run.skipped);
    EXPECT_TRUE(run.worker == 0 || run.worker == 1);
    EXPECT_LE(run.start, run.end);
  }
  const std::vector<double> shares = activity(report.runs, report.workers);
  ASSERT_EQ(shares.size(), 3U);
  EXPECT_NEAR(shares[0] + shares[1] + shares[2], 1, 1e-9);
}

TEST(task_graph, activity_counts_who_is_busy) {
  const auto run = [](std::uint64_t from, std::uint64_t to) {
    return task_run{"", 0, 0, false, false, ticks{from}, ticks{to}};
  };
  const std::vector<task_run> runs{run(0, 40), run(10, 20), run(60, 100), run(20, 30)};
  EXPECT_THAT(activity(runs, 2), ElementsAre(0.2, testing::DoubleEq(0.6), testing::DoubleEq(0.2)));
  EXPECT_TRUE(activity({}, 2).empty());
}

TEST(task_graph, misuse_is_told) {
  EXPECT_THROW(task_graph({.window = 0}), usage_error);
  task_graph graph;
  EXPECT_THROW(graph.write_dot(std::cout), usage_error);
  EXPECT_THROW(graph.write_json(std::cout), usage_error);
  int ran = 0;
  graph.add({}, {inout(&ran)}, [&] { ++ran; });
  runtime rt(host{1});
  rt.run([&] {
    EXPECT_THROW(graph.add({}, {inout(&ran)}, [&] { ++ran; }), usage_error);
    EXPECT_THROW(graph.wait(), usage_error);
  });
  graph.wait();
  EXPECT_EQ(ran, 1);
  // The graph is bound to its task from the first add() until wait() only.
  rt.run([&] {
    graph.add({}, {inout(&ran)}, [&] { ++ran; });
    graph.wait();
  });
  EXPECT_EQ(ran, 2);
}

}  // namespace
}  // namespace creek::linalg::support

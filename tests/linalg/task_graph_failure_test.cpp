// SPDX-License-Identifier: Apache-2.0
// Bodies that throw, cancelled graphs, graphs that no thread waits for.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <creek/host.hpp>
#include <creek/linalg/task_graph.hpp>
#include <creek/tasking.hpp>

#include "everywhere.hpp"

namespace creek::linalg {
namespace {

using support::everywhere;

struct failure {
  int number;
};

int number_of_failure(task_graph& graph) {
  try {
    graph.wait();
  } catch (const failure& caught) {
    return caught.number;
  }
  return -1;
}

// A window of 1 makes each task end before the next is added: then the failure is known, and its
// record perhaps recycled, when the tasks that depend on it are added.
TEST(task_graph_failure, those_that_would_read_its_results_do_not_run) {
  for (const std::size_t window : {1U, 2U, 100U}) {
    everywhere([=] {
      int a = 0, b = 0, c = 0, d = 0;
      task_graph graph({.window = window});
      graph.add({}, {in(&d), inout(&a)}, [] { throw failure{1}; });
      graph.add({}, {in(&a), out(&b)}, [&] { b = 1; });      // not run: reads a
      graph.add({}, {inout(&c)}, [&] { ++c; });              // run: independent
      graph.add({}, {in(&b), inout(&c)}, [&] { c = 100; });  // not run: reads b, poisons c
      graph.add({}, {out(&d)}, [&] { d = 4; });              // run: only after the failed one
      graph.add({}, {inout(&c)}, [&] { c = 200; });          // not run: c is poisoned
      graph.add({}, {out(&b)}, [&] { b = 5; });              // run: overwrites b
      graph.add({}, {in(&b), in(&d), out(&a)}, [&] { a = b + d; });  // run: valid again
      graph.add({}, {in(&a), inout(&b)}, [&] { b += a; });
      EXPECT_EQ(number_of_failure(graph), 1);
      EXPECT_EQ(a, 9);
      EXPECT_EQ(b, 14);
      EXPECT_EQ(c, 1);
      EXPECT_EQ(d, 4);
      // The next round starts without the failure.
      graph.add({}, {inout(&c)}, [&] { ++c; });
      const graph_report report = graph.wait();
      EXPECT_EQ(report.skipped, 0U);
      EXPECT_EQ(c, 2);
    });
  }
}

TEST(task_graph_failure, of_many_one_is_rethrown) {
  everywhere([] {
    std::vector<int> blocks(100);
    std::atomic<int> ran{0};
    task_graph graph;
    for (int& each : blocks) {
      graph.add({}, {inout(&each)}, [&] {
        ++ran;
        throw failure{7};
      });
      graph.add({}, {inout(&each)}, [&] { ++ran; });
    }
    EXPECT_EQ(number_of_failure(graph), 7);
    EXPECT_EQ(ran.load(), 100);
  });
}

TEST(task_graph_failure, of_what_a_body_spawned) {
  runtime(host{2}).run([] {
    task_graph graph;
    int block = 0;
    graph.add({}, {inout(&block)}, [] { spawn([] { throw failure{3}; }); });
    graph.add({}, {inout(&block)}, [&] { block = 1; });
    EXPECT_EQ(number_of_failure(graph), 3);
    EXPECT_EQ(block, 0);
  });
}

TEST(task_graph_failure, bodies_that_do_not_run_are_destroyed) {
  auto kept = std::make_shared<int>(0);
  everywhere([&] {
    for (const std::size_t window : {1U, 100U}) {
      task_graph graph({.window = window});
      int block = 0;
      graph.add({}, {inout(&block)}, [kept] { throw failure{2}; });
      for (int i = 0; i < 20; ++i) {
        graph.add({}, {inout(&block)}, [kept, &block] { ++block; });
        graph.add({}, {inout(&block)}, [kept, &block, large = std::vector<char>(9)] { ++block; });
      }
      EXPECT_EQ(number_of_failure(graph), 2);
      EXPECT_EQ(block, 0);
    }
  });
  EXPECT_EQ(kept.use_count(), 1);
}

TEST(task_graph_failure, a_long_program_after_a_failure) {
  everywhere([] {
    std::vector<int> blocks(1000);
    task_graph graph({.window = 16});
    graph.add({}, {inout(&blocks[0])}, [] { throw failure{4}; });
    for (std::size_t i = 0; i < 20'000; ++i) {
      graph.add({}, {in(&blocks[i % 999]), inout(&blocks[i % 999 + 1])},
                [&, i] { ++blocks[i % 999 + 1]; });
    }
    EXPECT_EQ(number_of_failure(graph), 4);
    for (const int each : blocks) EXPECT_EQ(each, 0);
  });
}

TEST(task_graph_failure, cancelled_by_a_body) {
  everywhere([] {
    task_graph graph;
    int block = 0;
    for (int i = 0; i < 100; ++i) {
      graph.add({}, {inout(&block)}, [&] {
        if (++block == 10) graph.cancel();
      });
    }
    const graph_report report = graph.wait();
    EXPECT_EQ(block, 10);
    EXPECT_EQ(report.tasks, 100U);
    EXPECT_EQ(report.skipped, 90U);
    EXPECT_FALSE(graph.is_cancelled());
    graph.add({}, {inout(&block)}, [&] { ++block; });
    graph.wait();
    EXPECT_EQ(block, 11);
  });
}

TEST(task_graph_failure, stopped_from_outside) {
  everywhere([] {
    std::stop_source source;
    task_graph graph({.window = 8, .stop = source.get_token()});
    int block = 0;
    for (int i = 0; i < 100; ++i) {
      graph.add({}, {inout(&block)}, [&] {
        if (++block == 3) source.request_stop();
      });
    }
    EXPECT_EQ(graph.wait().skipped, 97U);
    EXPECT_EQ(block, 3);
    EXPECT_TRUE(graph.is_cancelled());
  });
}

TEST(task_graph_failure, a_graph_that_nobody_waits_for_is_run_to_its_end) {
  everywhere([] {
    std::atomic<int> ran{0};
    int block = 0, other = 0;
    {
      task_graph graph;
      for (int i = 0; i < 200; ++i) graph.add({}, {inout(&block)}, [&] { ++ran; });
      graph.add({}, {inout(&other)}, [] { throw failure{9}; });
    }
    EXPECT_EQ(ran.load(), 200);
  });
}

TEST(task_graph_failure, left_by_an_exception_of_the_program) {
  everywhere([] {
    std::atomic<int> ran{0};
    try {
      task_graph graph;
      for (int i = 0; i < 50; ++i) graph.add({}, {}, [&] { ++ran; });
      throw failure{1};
    } catch (const failure&) {
    }
    EXPECT_EQ(ran.load(), 50);
  });
}

}  // namespace
}  // namespace creek::linalg

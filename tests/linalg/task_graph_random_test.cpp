// SPDX-License-Identifier: Apache-2.0
// Random programs on blocks against their sequential run, on every backend. A lost wake-up shows as
// a timeout.
#include <gtest/gtest.h>

#include <iostream>
#include <random>
#include <string>

#include <creek/scc.hpp>
#include <creek/tasking.hpp>

#include "hash_blocks.hpp"
#include "support/few_cases.hpp"
#include "support/seed.hpp"

namespace creek::linalg::support {
namespace {

struct place {
  std::string backend;
  unsigned workers;
};

std::vector<place> places() {
  std::vector<place> all;
  for (const std::string& backend : creek::backends()) {
    for (const unsigned workers : {1U, 2U, 4U}) all.push_back({backend, workers});
  }
  return all;
}

std::string name_of(const testing::TestParamInfo<place>& info) {
  return info.param.backend + "_" + std::to_string(info.param.workers);
}

std::ostream& operator<<(std::ostream& out, const place& shown) {
  return out << shown.workers << " workers of " << shown.backend;
}

class task_graph_random : public testing::TestWithParam<place> {
 protected:
  std::uint64_t seed = creek::support::chosen_seed();
  std::uint64_t rounds =
      creek::support::number_from("CREEK_TEST_ROUNDS", is_simulated()              ? 10
                                                       : creek::support::few_cases ? 30
                                                                                   : 100);
  std::mt19937_64 random{seed};

  void SetUp() override { std::cout << "replay with CREEK_TEST_SEED=" << seed << "\n"; }
  static bool is_simulated() { return GetParam().backend == "scc"; }
  static runtime make() {
    scheduler_options options;
    options.workers = GetParam().workers;
    return runtime(options, GetParam().backend);
  }
  graph_options any_options() {
    constexpr std::size_t windows[] = {1, 2, 5, 33, 4096};
    return {.window = windows[random() % 5], .record = random() % 4 == 0};
  }
  hash_program any_program() {
    const std::size_t tasks = 1 + random() % 400;
    return {random(), tasks, 1 + random() % 24};
  }
};

TEST_P(task_graph_random, gives_the_answer_of_the_sequential_program) {
  runtime rt = make();
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const hash_program program = any_program();
    const graph_options options = any_options();
    std::vector<std::uint64_t> values(program.blocks());
    const graph_report report = rt.run([&] {
      task_graph graph(options);
      program.add_to(graph, values);
      return graph.wait();
    });
    ASSERT_EQ(values, program.answer()) << "window " << options.window;
    ASSERT_EQ(report.tasks, program.tasks().size());
    ASSERT_EQ(report.skipped, 0U);
    ASSERT_LE(report.peak_unfinished, options.window);
  }
}

TEST_P(task_graph_random, several_rounds_of_one_graph) {
  runtime rt = make();
  rt.run([&] {
    task_graph graph(any_options());
    for (std::uint64_t round = 0; round < rounds; ++round) {
      const hash_program program = any_program();
      std::vector<std::uint64_t> values(program.blocks());
      program.add_to(graph, values);
      graph.wait();
      ASSERT_EQ(values, program.answer());
    }
  });
}

TEST_P(task_graph_random, two_graphs_at_once) {
  runtime rt = make();
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const hash_program programs[] = {any_program(), any_program()};
    const graph_options options[] = {any_options(), any_options()};
    std::vector<std::uint64_t> values[2];
    const auto run = [&](int which) {
      values[which].resize(programs[which].blocks());
      task_graph graph(options[which]);
      programs[which].add_to(graph, values[which]);
      graph.wait();
    };
    rt.run([&] { fork_join([&] { run(0); }, [&] { run(1); }); });
    ASSERT_EQ(values[0], programs[0].answer());
    ASSERT_EQ(values[1], programs[1].answer());
  }
}

TEST_P(task_graph_random, bodies_that_fork_and_make_graphs) {
  runtime rt = make();
  for (std::uint64_t round = 0; round < rounds / 5; ++round) {
    const hash_program outer = any_program(), inner = any_program();
    const graph_options options[] = {any_options(), any_options()};
    std::vector<std::uint64_t> values(outer.blocks());
    std::atomic<int> wrong{0}, children{0}, expected{0};
    rt.run([&] {
      task_graph graph(options[0]);
      for (const block_task& each : outer.tasks()) {
        graph.add({}, hash_program::operands_of(each, values), [&] {
          // The child ends with the body, although the body does not wait for it.
          ++expected;
          spawn([&] { ++children; });
          hash_program::run(each, values);
          if (each.salt % 32 != 0) return;
          std::vector<std::uint64_t> own(inner.blocks());
          task_graph nested(options[1]);
          inner.add_to(nested, own);
          nested.wait();
          if (own != inner.answer()) ++wrong;
        });
      }
      graph.wait();
      ASSERT_EQ(children.load(), expected.load());
    });
    ASSERT_EQ(values, outer.answer());
    ASSERT_EQ(wrong.load(), 0);
  }
}

// Bursts of a few tasks: strands leave and are spawned all the time, and the enqueuing thread waits
// for room in a window of a few tasks.
TEST_P(task_graph_random, hiring_and_leaving) {
  runtime rt = make();
  const std::uint64_t tasks = is_simulated() ? 200 : creek::support::few_cases ? 5'000 : 20'000;
  for (const std::size_t window : {1U, 2U, 3U, 8U}) {
    std::vector<std::uint64_t> counts(4);
    rt.run([&] {
      task_graph graph({.window = window});
      std::uint64_t rest = 0;
      for (std::uint64_t i = 0; i < tasks; ++i) {
        std::uint64_t& count = counts[random() % counts.size()];
        graph.add({}, {inout(&count)}, [&count] { ++count; });
        if (random() % 64 == 0) {
          for (auto length = random() % 5000; length > 0; --length) rest = mix(rest, length);
        }
      }
      graph.wait();
      std::uint64_t sum = rest & 0;
      for (const std::uint64_t each : counts) sum += each;
      ASSERT_EQ(sum, tasks);
    });
  }
}

// The program itself waits for a body: even with one worker some strand runs it.
TEST_P(task_graph_random, a_task_runs_while_the_enqueuer_waits_for_something_else) {
  runtime rt = make();
  for (std::uint64_t round = 0; round < rounds; ++round) {
    rt.run([&] {
      task_graph graph;
      promise<int> made;
      future<int> value = made.get_future();
      graph.add({}, {}, [&] { made.set_value(7); });
      ASSERT_EQ(value.get(), 7);
      graph.wait();
    });
  }
}

// The enqueuer must be woken: the body that fills the window waits until it sleeps, or nearly so.
TEST_P(task_graph_random, bodies_that_wait_leave_their_worker_to_others) {
  runtime rt = make();
  for (std::uint64_t round = 0; round < rounds; ++round) {
    int ran = 0;
    rt.run([&] {
      promise<void> opened;
      auto gate = opened.get_future();
      auto opener = async([&] { opened.set_value(); });
      task_graph graph({.window = 1});
      graph.add({}, {inout(&ran)}, [&] {
        gate.get();
        ++ran;
      });
      for (int i = 0; i < 5; ++i) graph.add({}, {inout(&ran)}, [&] { ++ran; });
      graph.wait();
      opener.get();
    });
    ASSERT_EQ(ran, 6);
  }
}

INSTANTIATE_TEST_SUITE_P(on, task_graph_random, testing::ValuesIn(places()), name_of);

}  // namespace
}  // namespace creek::linalg::support

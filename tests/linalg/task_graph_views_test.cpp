// SPDX-License-Identifier: Apache-2.0
// Operands with extents: overlapping views, against a look at every byte and against sequential
// runs.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <creek/host.hpp>
#include <creek/linalg/matrix.hpp>
#include <creek/linalg/task_graph.hpp>
#include <creek/tasking.hpp>

#include "graph/records/byte_block.hpp"
#include "graph/records/region_table.hpp"
#include "hash_blocks.hpp"
#include "support/few_cases.hpp"
#include "support/seed.hpp"

namespace creek::linalg::support {
namespace {

using detail::byte_block;

// --- Bytes -------------------------------------------------------------------------------------

std::set<std::uint64_t> bytes_of(const byte_block& block) {
  std::set<std::uint64_t> bytes;
  for (std::uint64_t j = 0; j < block.columns; ++j) {
    for (std::uint64_t i = 0; i < block.height; ++i) {
      bytes.insert(block.first + j * block.stride + i);
    }
  }
  return bytes;
}

byte_block random_block(std::mt19937_64& random, std::size_t stride) {
  static const std::vector<char> memory(200);
  return byte_block::of(
      {&memory[random() % 40], access::in, 0, {1 + random() % stride, random() % 5, stride}});
}

TEST(byte_blocks, of_one_matrix_and_without_gaps_are_compared_exactly) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20'000; ++round) {
    const std::size_t stride = 1 + random() % 9;
    const byte_block a = random_block(random, stride);
    const byte_block b = random_block(random, random() % 4 == 0 ? 1 + random() % 9 : stride);
    const auto bytes_a = bytes_of(a), bytes_b = bytes_of(b);
    bool share = false, inside = true;
    for (const std::uint64_t each : bytes_b) {
      share = share || bytes_a.contains(each);
      inside = inside && bytes_a.contains(each);
    }
    const auto shown = [](const byte_block& of) {
      return std::to_string(of.height) + " x " + std::to_string(of.columns) + ", stride " +
             std::to_string(of.stride);
    };
    SCOPED_TRACE(shown(a) + " and " + shown(b) + " " +
                 std::to_string(static_cast<std::int64_t>(b.first - a.first)) + " later");
    if (detail::is_comparable(a, b)) {
      ASSERT_EQ(overlap(a, b), share);
      ASSERT_EQ(contains(a, b), inside);
    } else {
      ASSERT_TRUE(overlap(a, b) || !share);
      ASSERT_TRUE(inside || !contains(a, b));
    }
    ASSERT_EQ(overlap(a, b), overlap(b, a));
    ASSERT_EQ(a.span(), *bytes_a.rbegin() - *bytes_a.begin() + 1);
  }
}

TEST(region_table, knows_all_neighbours_also_after_some_are_forgotten) {
  std::mt19937_64 random(2);
  std::vector<double> memory(64 * 64);
  detail::user_lists<int> readers;
  detail::region_table<int> regions(readers);
  int task = 0;
  const auto young = [&](int each) { return each > task - 100; };
  const auto use = [&](const double* at, std::size_t rows, std::size_t columns) {
    const std::array operands = {operand{at,
                                         static_cast<access>(1 + random() % 3),
                                         0,
                                         {rows * sizeof(double), columns, 64 * sizeof(double)}}};
    regions.look_up(operands, young);
    regions.enter(++task, operands, young, [&](int from, detail::dependence, bool) {
      ASSERT_TRUE(from > 0 && from < task);
    });
  };
  for (int i = 0; i < 200; ++i) {
    use(&memory[random() % 4000], 1 + random() % 20, 1 + random() % 20);
  }
  EXPECT_TRUE(regions.verify());
  std::vector<double> more(40'000);
  for (double& each : more) use(&each, 1, 1);
  EXPECT_LE(regions.size(), 32'768U);
  for (int i = 0; i < 50; ++i) {
    use(&memory[random() % 4000], 1 + random() % 20, 1 + random() % 20);
  }
  EXPECT_LT(regions.peak_bytes(), std::size_t{20} << 20);
  regions.clear();
  EXPECT_EQ(regions.size(), 0U);
  EXPECT_TRUE(regions.verify());
}

// --- Programs ----------------------------------------------------------------------------------

struct view_use {
  std::size_t first;
  index_t rows, cols, leading;
  access how;
  bool whole_extent;  ///< or the address of its only element
};
struct view_task {
  std::vector<view_use> uses;
  std::uint64_t salt;
};

/// Tasks on random views of one matrix, each of which hashes what it reads into what it writes.
class view_program {
 public:
  static constexpr index_t order = 12;

  view_program(std::uint64_t seed, std::size_t tasks) {
    std::mt19937_64 random(seed);
    const index_t largest = random() % 2 == 0 ? 3 : order;
    for (std::size_t i = 0; i < tasks; ++i) {
      view_task task{{}, random()};
      for (auto uses = 1 + random() % 3; uses > 0; --uses)
        task.uses.push_back(any(random, largest));
      tasks_.push_back(std::move(task));
    }
  }
  std::vector<double> answer() const {
    std::vector<double> values = fresh();
    for (const view_task& each : tasks_) run(each, values);
    return values;
  }
  std::vector<double> run(graph_options options) const {
    std::vector<double> values = fresh();
    task_graph graph(std::move(options));
    add_to(graph, values);
    graph.wait();
    return values;
  }
  void add_to(task_graph& graph, std::vector<double>& values) const {
    for (const view_task& each : tasks_) {
      std::vector<operand> operands;
      for (const view_use& use : each.uses) {
        const matrix_view<double> block = view(use, values);
        operands.push_back(use.whole_extent ? operand_of(block, use.how)
                                            : operand{block.data(), use.how});
      }
      graph.add({}, operands, [&] { run(each, values); });
    }
  }

 private:
  static std::vector<double> fresh() { return std::vector<double>(order * order); }
  static matrix_view<double> view(const view_use& use, std::vector<double>& values) {
    return {&values[use.first], use.rows, use.cols, use.leading};
  }
  static index_t up_to(std::mt19937_64& random, index_t most) {
    return 1 + static_cast<index_t>(random() % static_cast<std::uint64_t>(most));
  }
  static view_use any(std::mt19937_64& random, index_t largest) {
    const auto how = static_cast<access>(1 + random() % 3);
    if (random() % 8 == 0) return {random() % (order * order), 1, 1, 1, how, false};
    // Sometimes the matrix is seen with columns of another length.
    const index_t leading = random() % 8 == 0 ? 2 * order : order;
    const index_t columns = order * order / leading;
    const index_t rows = up_to(random, largest), cols = up_to(random, std::min(largest, columns));
    const index_t i = up_to(random, leading - rows + 1) - 1,
                  j = up_to(random, columns - cols + 1) - 1;
    return {static_cast<std::size_t>(i + j * leading), rows, cols, leading, how, true};
  }
  static void run(const view_task& task, std::vector<double>& values) {
    std::uint64_t hash = task.salt;
    for (const view_use& each : task.uses) {
      if (each.how != access::out)
        visit(each, values,
              [&](double& value) { hash = mix(hash, static_cast<std::uint64_t>(value)); });
    }
    for (const view_use& each : task.uses) {
      if (each.how != access::in)
        visit(each, values,
              [&](double& value) { value = static_cast<double>((hash = mix(hash, 1)) >> 16); });
    }
  }
  template <class F>
  static void visit(const view_use& use, std::vector<double>& values, F f) {
    const matrix_view<double> block = view(use, values);
    for (index_t j = 0; j < block.cols(); ++j) {
      for (index_t i = 0; i < block.rows(); ++i) f(block(i, j));
    }
  }

  std::vector<view_task> tasks_;
};

TEST(task_graph_views, give_the_answer_of_the_sequential_program) {
  const std::uint64_t seed = creek::support::chosen_seed();
  std::cout << "replay with CREEK_TEST_SEED=" << seed << "\n";
  std::mt19937_64 random(seed);
  constexpr std::size_t windows[] = {1, 2, 5, 33, 4096};
  for (const unsigned workers : {0U, 1U, 2U, 3U}) {
    SCOPED_TRACE("workers = " + std::to_string(workers));
    for (auto round =
             creek::support::number_from("CREEK_TEST_ROUNDS", creek::support::few_cases ? 10 : 40);
         round > 0; --round) {
      const view_program program(random(), 1 + random() % 300);
      const graph_options options{.window = windows[random() % 5]};
      const std::vector<double> values =
          workers == 0 ? program.run(options)
                       : runtime(host{workers}).run([&] { return program.run(options); });
      ASSERT_EQ(values, program.answer()) << "window " << options.window;
    }
  }
}

/// Returns the edges that a dry run finds.
template <class Add>
std::size_t edges_of(Add add) {
  task_graph graph({.dry_run = true});
  add(graph);
  return graph.wait().edges;
}

TEST(task_graph_views, wait_only_for_those_that_overlap) {
  matrix<double> a(20, 20);
  const matrix_view<double> whole = a.view();
  const auto none = [] {};
  EXPECT_EQ(edges_of([&](task_graph& graph) {  // four quarters: their bytes alternate
              for (const index_t i : {0, 10}) {
                for (const index_t j : {0, 10}) {
                  graph.add({}, {inout(whole.block(i, j, 10, 10))}, none);
                }
              }
            }),
            0U);
  EXPECT_EQ(edges_of([&](task_graph& graph) {  // a block, two that share parts of it, all of it
              graph.add({}, {out(whole.block(5, 5, 10, 10))}, none);
              graph.add({}, {inout(whole.block(0, 0, 6, 6))}, none);
              graph.add({}, {in(whole.block(14, 14, 3, 3))}, none);
              graph.add({}, {out(whole)}, none);                       // after the last two
              graph.add({}, {in(whole.block(7, 7, 2, 2))}, none);      // reads the whole
              graph.add({}, {in(const_view<double>(whole))}, none);    // too
              graph.add({}, {inout(whole.block(8, 8, 1, 12))}, none);  // after both
            }),
            2U + 3U + 1U + 1U + 3U);
  EXPECT_EQ(edges_of([&](task_graph& graph) {  // an address is the byte there
              graph.add({}, {out(a.data() + 3)}, none);
              graph.add({}, {out(a.data() + 5)}, none);
              graph.add({}, {in(whole.block(0, 0, 4, 1))}, none);
              graph.add({}, {inout(a.data() + 5)}, none);
              graph.add({}, {inout(a.data() + 3)}, none);
            }),
            1U + 1U + 2U);
  EXPECT_EQ(edges_of([&](task_graph& graph) {
              graph.add({}, {out(whole.block(3, 3, 0, 4))}, none);  // empty
              graph.add({}, {out(whole.block(4, 3, 2, 2))}, none);
            }),
            0U);
}

struct failure {};

// With a window of 1 a failure is known before the next task is added.
TEST(task_graph_views, failures_go_to_what_overlaps_and_end_with_what_covers) {
  for (const std::size_t window : {1U, 2U, 100U}) {
    for (const bool address_first : {false, true}) {
      matrix<double> a(8, 8);
      const matrix_view<double> whole = a.view();
      std::string ran;
      const auto note = [&](char name) { return [&ran, name] { ran += name; }; };
      task_graph graph({.window = window});
      if (address_first) {
        graph.add({}, {inout(&a(2, 2))}, [] { throw failure{}; });
      } else {
        graph.add({}, {out(whole.block(2, 2, 4, 4))}, [] { throw failure{}; });
      }
      graph.add({}, {in(&a(2, 2))}, note('-'));
      graph.add({}, {inout(&a(2, 2))}, note('-'));
      graph.add({}, {in(whole.block(0, 0, 2, 8))}, note('a'));
      graph.add({}, {in(whole.block(0, 0, 3, 3))}, note('-'));
      graph.add({}, {inout(whole.block(1, 1, 2, 2))}, note('-'));
      graph.add({}, {in(whole.block(1, 1, 1, 1))}, note('-'));   // of the former
      graph.add({}, {out(whole.block(2, 2, 1, 2))}, note('b'));  // valid again, not the rest
      graph.add({}, {in(whole.block(2, 2, 1, 1))}, note('c'));
      graph.add({}, {in(whole.block(1, 1, 2, 2))}, note('-'));
      graph.add({}, {out(whole.block(1, 1, 6, 6))}, note('d'));
      graph.add({}, {in(whole)}, note('e'));
      EXPECT_THROW(graph.wait(), failure);
      EXPECT_EQ(ran.size(), 5U) << ran;
      EXPECT_EQ(ran.find('-'), std::string::npos) << ran;
    }
  }
}

TEST(task_graph_views, memory_follows_the_window_and_not_the_program) {
  runtime(host{2}).run([] {
    std::vector<double> values(creek::support::few_cases ? 25'000 : 100'000);
    std::size_t sum = 0;
    task_graph graph({.window = 64});
    const matrix_view<double> hot(values.data(), 10, 1, 10);
    for (double& each : values) {
      graph.add({}, {inout(matrix_view<double>(&each, 1, 1, 1)), inout(hot)}, [&] { ++sum; });
    }
    const graph_report report = graph.wait();
    EXPECT_EQ(sum, values.size());
    EXPECT_LE(report.peak_unfinished, 64U);
    EXPECT_LT(report.peak_bytes, 250 * values.size());
  });
}

}  // namespace
}  // namespace creek::linalg::support

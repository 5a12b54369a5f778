// SPDX-License-Identifier: Apache-2.0
// Dry runs: known counts, and random graphs against a check of all pairs of tasks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

#include "hash_blocks.hpp"

namespace creek::linalg::support {
namespace {

void must_not_run() {
  ADD_FAILURE() << "a dry run called a body";
}

/// Cholesky by blocks, right-looking; flops in units of block^3 / 3.
void add_cholesky(task_graph& graph, const std::vector<char>& blocks, std::size_t n) {
  const auto a = [&](std::size_t i, std::size_t j) { return &blocks[i * n + j]; };
  for (std::size_t k = 0; k < n; ++k) {
    graph.add({"potrf", 1}, {inout(a(k, k))}, must_not_run);
    for (std::size_t i = k + 1; i < n; ++i) {
      graph.add({"trsm", 3}, {in(a(k, k)), inout(a(i, k))}, must_not_run);
    }
    for (std::size_t i = k + 1; i < n; ++i) {
      graph.add({"syrk", 3}, {in(a(i, k)), inout(a(i, i))}, must_not_run);
      for (std::size_t j = k + 1; j < i; ++j) {
        graph.add({"gemm", 6}, {in(a(i, k)), in(a(j, k)), inout(a(i, j))}, must_not_run);
      }
    }
  }
}

class dry_cholesky : public testing::TestWithParam<std::size_t> {};

TEST_P(dry_cholesky, has_the_counts_of_the_literature) {
  const std::size_t n = GetParam();
  const std::vector<char> blocks(n * n);
  task_graph graph({.window = 1, .dry_run = true});
  add_cholesky(graph, blocks, n);
  const graph_report report = graph.wait();
  EXPECT_EQ(report.tasks, n * (n + 1) * (n + 2) / 6);
  // n^3 in these units, as n by n blocks have n^3 block^3 / 3.
  EXPECT_DOUBLE_EQ(report.flops, static_cast<double>(n * n * n));
  EXPECT_EQ(report.depth, 3 * n - 2);
  // Along the last row: potrf and trsm, then gemm and trsm for each column between the first and
  // the last, syrk and potrf.
  EXPECT_DOUBLE_EQ(report.critical_path, n == 1 ? 1 : 9 * static_cast<double>(n) - 10);
  EXPECT_DOUBLE_EQ(report.parallelism, report.flops / report.critical_path);
  ASSERT_EQ(report.counts.front().name, "potrf");
  EXPECT_EQ(report.counts.front().tasks, n);
  if (n < 3) return;
  ASSERT_EQ(report.counts.size(), 4U);
  EXPECT_EQ(report.counts[1].tasks, n * (n - 1) / 2);
  EXPECT_EQ(report.counts[2].tasks, n * (n - 1) / 2);
  EXPECT_EQ(report.counts[3].name, "gemm");
  EXPECT_EQ(report.counts[3].tasks, n * (n - 1) * (n - 2) / 6);
}

INSTANTIATE_TEST_SUITE_P(sizes, dry_cholesky, testing::Values(1, 2, 3, 8, 20));

/// Returns whether one task depends on the other, judged by the operands alone.
bool conflict(const block_task& a, const block_task& b) {
  for (std::size_t i = 0; i < a.blocks.size(); ++i) {
    for (std::size_t j = 0; j < b.blocks.size(); ++j) {
      if (a.blocks[i] == b.blocks[j] && (a.how[i] != access::in || b.how[j] != access::in)) {
        return true;
      }
    }
  }
  return false;
}

TEST(dry_run, finds_the_paths_that_a_look_at_all_pairs_finds) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const hash_program program(seed, 200, 1 + seed % 40);
    std::vector<std::uint64_t> values(program.blocks());
    task_graph graph({.dry_run = true});
    program.add_to(graph, values);
    const graph_report report = graph.wait();

    const auto& tasks = program.tasks();
    std::vector<double> finish(tasks.size());
    std::vector<std::size_t> level(tasks.size()), width(tasks.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (!conflict(tasks[j], tasks[i])) continue;
        finish[i] = std::max(finish[i], finish[j]);
        level[i] = std::max(level[i], level[j] + 1);
      }
      finish[i] += tasks[i].flops;
      ++width[level[i]];
    }
    EXPECT_DOUBLE_EQ(report.critical_path, *std::max_element(finish.begin(), finish.end()));
    EXPECT_EQ(report.depth, *std::max_element(level.begin(), level.end()) + 1);
    EXPECT_EQ(report.widest_level, *std::max_element(width.begin(), width.end()));
    EXPECT_EQ(values, std::vector<std::uint64_t>(program.blocks())) << "something ran";
  }
}

TEST(dry_run, exports_what_it_found) {
  char a{}, b{};
  task_graph graph({.dry_run = true});
  graph.add({"write \"a\"", 1}, {out(&a)}, must_not_run);
  graph.add({"read\\a", 2}, {in(&a), out(&b)}, must_not_run);
  graph.add({"over", 4}, {out(&a)}, must_not_run);
  graph.add({"over", 8}, {out(&a)}, must_not_run);
  graph.add({"both", 16}, {inout(&a), inout(&b)}, must_not_run);
  EXPECT_EQ(graph.wait().edges, 5U);

  std::ostringstream json;
  graph.write_json(json);
  const auto parsed = nlohmann::json::parse(json.str());
  EXPECT_EQ(parsed["flops"], 31.0);
  EXPECT_EQ(parsed["critical_path"], 31.0);
  ASSERT_EQ(parsed["tasks"].size(), 5U);
  EXPECT_EQ(parsed["tasks"][0]["name"], "write \"a\"");
  EXPECT_EQ(parsed["tasks"][1]["name"], "read\\a");
  EXPECT_EQ(parsed["tasks"][4]["level"], 4);
  std::vector<std::string> edges;
  for (const auto& each : parsed["edges"]) {
    edges.push_back(each["from"].dump() + each["to"].dump() + std::string(each["kind"]));
  }
  EXPECT_THAT(edges,
              testing::UnorderedElementsAre("01flow", "12anti", "23output", "34flow", "14flow"));
  std::ostringstream dot;
  graph.write_dot(dot);
  EXPECT_EQ(dot.str(),
            "digraph tasks {\n  node [shape=box];\n"
            "  t0 [label=\"write \\\"a\\\"\"];\n  t1 [label=\"read\\\\a\"];\n"
            "  t2 [label=\"over\"];\n  t3 [label=\"over\"];\n  t4 [label=\"both\"];\n"
            "  t0 -> t1;\n  t1 -> t2 [style=dashed];\n  t2 -> t3 [style=dashed];\n"
            "  t3 -> t4;\n  t1 -> t4;\n}\n");
}

TEST(dry_run, begins_anew_after_wait) {
  char a{};
  task_graph graph({.dry_run = true});
  graph.add({"x", 1}, {inout(&a)}, must_not_run);
  graph.add({"x", 1}, {inout(&a)}, must_not_run);
  EXPECT_EQ(graph.wait().depth, 2U);
  graph.add({"y", 1}, {inout(&a)}, must_not_run);
  const graph_report report = graph.wait();
  EXPECT_EQ(report.depth, 1U);
  ASSERT_EQ(report.counts.size(), 1U);
  EXPECT_EQ(report.counts[0].name, "y");
  EXPECT_EQ(graph.wait().tasks, 0U);
}

}  // namespace
}  // namespace creek::linalg::support

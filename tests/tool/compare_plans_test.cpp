// SPDX-License-Identifier: Apache-2.0
// The graphs that `creek compare` plans with: the tasks of small factorizations, and their waits.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <creek/linalg/lu.hpp>

#include "column_plan.hpp"

namespace creek::tool::dense {
namespace {

std::vector<std::string> names_of(const work_graph& plan) {
  std::vector<std::string> names;
  for (const planned_task& each : plan.tasks) names.push_back(each.name);
  return names;
}

work_graph plan_of_blocks(linalg::index_t blocks) {
  constexpr linalg::index_t block = 8;
  linalg::matrix<double> a(blocks * block, blocks * block);
  return linalg::getrf_plan<double>(a.view(), block);
}

bool waits(const work_graph& plan, std::uint32_t later, std::uint32_t earlier) {
  const auto& behind = plan.tasks[earlier].successors;
  return std::find(behind.begin(), behind.end(), later) != behind.end();
}

TEST(plans, three_blocks_of_columns) {
  const work_graph plan = plan_of_columns(6);
  EXPECT_EQ(names_of(plan),
            (std::vector<std::string>{"panel", "update", "update", "panel", "update", "panel"}));
  for (const auto& [later, earlier] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{
           {1, 0}, {2, 0}, {3, 1}, {4, 2}, {4, 3}, {5, 4}}) {
    EXPECT_TRUE(waits(plan, later, earlier)) << later << " after " << earlier;
  }
  EXPECT_FALSE(waits(plan, 2, 1));
}

TEST(plans, two_by_two_blocks) {
  const work_graph plan = plan_of_blocks(2);
  EXPECT_EQ(names_of(plan),
            (std::vector<std::string>{"panel", "trsm", "gemm", "panel", "exchange"}));
  for (const auto& [later, earlier] :
       std::vector<std::pair<std::uint32_t, std::uint32_t>>{{1, 0}, {2, 1}, {3, 2}, {4, 3}}) {
    EXPECT_TRUE(waits(plan, later, earlier)) << later << " after " << earlier;
  }
}

// b panels, b (b - 1) / 2 solves, sums of squares of updates, b - 1 exchanges.
TEST(plans, so_many_tasks) {
  EXPECT_EQ(plan_of_blocks(10).tasks.size(), 10U + 45 + 285 + 9);
  EXPECT_EQ(plan_of_columns(55).tasks.size(), 55U);
  EXPECT_TRUE(plan_of_columns(0).tasks.empty());
}

}  // namespace
}  // namespace creek::tool::dense

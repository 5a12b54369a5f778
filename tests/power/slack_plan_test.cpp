// SPDX-License-Identifier: Apache-2.0
// Slack plans: known answers, small random graphs against all choices of clocks, and large ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include <creek/power/slack_plan.hpp>

#include "power/fake_clocks.hpp"

namespace {

using namespace creek;
using power::plan_slack;
using power::slack_plan;

const std::vector<units::hertz> clocks = support::three_clocks();
constexpr double slowness[] = {4, 2, 1};

double path(const work_graph& graph, std::size_t task) {
  double longest = 0;
  for (const auto successor : graph.tasks[task].successors) {
    longest = std::max(longest, path(graph, successor));
  }
  return graph.tasks[task].work + longest;
}

/// Returns when the graph ends if its tasks run at these steps. Slow: one instant after another,
/// with a look at all tasks each time.
double simulate(const work_graph& graph, unsigned workers,
                const std::vector<std::uint16_t>& steps) {
  struct state {
    bool begun = false, ended = false;
    double end = 0;
  };
  std::vector<state> tasks(graph.tasks.size());
  std::vector<int> pending(graph.tasks.size());
  for (const auto& each : graph.tasks) {
    for (const auto successor : each.successors) ++pending[successor];
  }
  double now = 0;
  for (;;) {
    unsigned busy = 0;
    for (const state& each : tasks) busy += each.begun && !each.ended ? 1 : 0;
    while (busy < workers) {
      std::size_t best = tasks.size();
      const auto rank = [&](std::size_t i) {
        return std::tuple(graph.tasks[i].priority, path(graph, i), -static_cast<double>(i));
      };
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        if (tasks[i].begun || pending[i] != 0) continue;
        if (best == tasks.size() || rank(i) > rank(best)) best = i;
      }
      if (best == tasks.size()) break;
      tasks[best] = {true, false, now + graph.tasks[best].work * slowness[steps[best]]};
      ++busy;
    }
    if (busy == 0) return now;
    double next = 1e300;
    for (const state& each : tasks) {
      if (each.begun && !each.ended) next = std::min(next, each.end);
    }
    now = next;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (!tasks[i].begun || tasks[i].ended || tasks[i].end > now) continue;
      tasks[i].ended = true;
      for (const auto successor : graph.tasks[i].successors) --pending[successor];
    }
  }
}

work_graph random_graph(std::mt19937& random, std::size_t tasks, double edges) {
  work_graph graph;
  std::uniform_int_distribution<int> work(1, 8), priority(0, 1);
  std::bernoulli_distribution follows(edges);
  for (std::size_t i = 0; i < tasks; ++i) {
    graph.tasks.push_back({"t", static_cast<double>(work(random)), priority(random), {}});
    for (std::size_t j = 0; j < i; ++j) {
      if (follows(random)) graph.tasks[j].successors.push_back(static_cast<std::uint32_t>(i));
    }
  }
  return graph;
}

double slowed_work(const work_graph& graph, const std::vector<std::uint16_t>& steps) {
  double all = 0, slowed = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    all += graph.tasks[i].work;
    if (steps[i] != 2) slowed += graph.tasks[i].work;
  }
  return slowed / all;
}

/// Returns the most work below the highest clock, over all choices that keep the limit.
double best_slowed_work(const work_graph& graph, unsigned workers, double limit) {
  std::vector<std::uint16_t> steps(graph.tasks.size(), 0);
  double best = 0;
  for (;;) {
    if (simulate(graph, workers, steps) <= limit * (1 + 1e-9)) {
      best = std::max(best, slowed_work(graph, steps));
    }
    std::size_t digit = 0;
    while (digit < steps.size() && ++steps[digit] == 3) steps[digit++] = 0;
    if (digit == steps.size()) return best;
  }
}

TEST(SlackPlan, ASerialChainHasNone) {
  work_graph chain;
  for (std::uint32_t i = 0; i < 10; ++i) {
    chain.tasks.push_back({"t", 1, 0, i < 9 ? std::vector{i + 1} : std::vector<std::uint32_t>{}});
  }
  const slack_plan plan = plan_slack(chain, 4, clocks, 0);
  EXPECT_EQ(plan.slowed, 0u);
  EXPECT_EQ(plan.end, 10);
  // A bound equal to the whole time lets each task take twice as long.
  const slack_plan doubled = plan_slack(chain, 4, clocks, 1);
  EXPECT_EQ(doubled.steps, std::vector<std::uint16_t>(10, 1));
  EXPECT_EQ(doubled.end, 20);
  EXPECT_EQ(doubled.end_at_top, 10);
}

TEST(SlackPlan, NothingToDo) {
  const slack_plan plan = plan_slack({}, 4, clocks, 0.1);
  EXPECT_EQ(plan.end, 0);
  EXPECT_TRUE(plan.steps.empty());
}

TEST(SlackPlan, TasksOfUnknownWorkAreNotSlowed) {
  work_graph graph;
  graph.tasks = {
      {"unknown", 0, 0, {1}}, {"long", 4, 0, {}}, {"short", 1, 0, {3}}, {"unknown", 0, 0, {}}};
  const slack_plan plan = plan_slack(graph, 2, clocks, 0);
  EXPECT_EQ(plan.steps, (std::vector<std::uint16_t>{2, 2, 0, 2}));
  EXPECT_EQ(plan.slowed, 1u);
  for (planned_task& each : graph.tasks) each.work = 0;
  EXPECT_EQ(plan_slack(graph, 2, clocks, 0.5).slowed, 0u);
}

TEST(SlackPlan, OneClockSlowsNothing) {
  std::mt19937 random(1);
  const auto graph = random_graph(random, 30, 0.1);
  const slack_plan plan = plan_slack(graph, 3, std::span(clocks).last(1), 0.5);
  EXPECT_EQ(plan.slowed, 0u);
  EXPECT_EQ(plan.end, plan.end_at_top);
}

TEST(SlackPlan, OfSmallGraphsKeepsItsBoundAndComesCloseToTheBest) {
  std::mt19937 random(20261122);
  double reached = 0, possible = 0;
  for (int round = 0; round < 60; ++round) {
    const auto graph = random_graph(random, 2 + static_cast<std::size_t>(round) % 6, 0.4);
    const unsigned workers = 1 + static_cast<unsigned>(round) % 3;
    const double bound = round % 2 == 0 ? 0 : 0.25;
    const std::vector<std::uint16_t> top(graph.tasks.size(), 2);
    const slack_plan plan = plan_slack(graph, workers, clocks, bound);
    ASSERT_DOUBLE_EQ(plan.end_at_top, simulate(graph, workers, top)) << round;
    ASSERT_DOUBLE_EQ(plan.end, simulate(graph, workers, plan.steps)) << round;
    ASSERT_LE(plan.end, plan.end_at_top * (1 + bound) * (1 + 1e-9)) << round;
    ASSERT_DOUBLE_EQ(plan.slowed_work, slowed_work(graph, plan.steps));
    const double best = best_slowed_work(graph, workers, plan.end_at_top * (1 + bound));
    ASSERT_LE(plan.slowed_work, best + 1e-12) << round;
    reached += plan.slowed_work;
    possible += best;
  }
  EXPECT_GE(reached, 0.7 * possible);
}

TEST(SlackPlan, OfLargerGraphsKeepsItsBound) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    const auto graph = random_graph(random, 60, 0.05);
    const unsigned workers = 1 + static_cast<unsigned>(round) % 8;
    const slack_plan plan = plan_slack(graph, workers, clocks, 0.02);
    ASSERT_DOUBLE_EQ(plan.end, simulate(graph, workers, plan.steps)) << round;
    ASSERT_LE(plan.end, plan.end_at_top * 1.02 * (1 + 1e-9)) << round;
  }
}

/// A hundred thousand tasks; a plan with quadratic time would run into the test's
/// timeout.
TEST(SlackPlan, OfManyTasksIsNearLinear) {
  work_graph graph;
  constexpr std::uint32_t tasks = 100'000;
  std::mt19937 random(3);
  std::uniform_int_distribution<std::uint32_t> ahead(1, 200);
  for (std::uint32_t i = 0; i < tasks; ++i) {
    std::set<std::uint32_t> successors;
    for (int edge = 0; edge < 3; ++edge) {
      if (const auto to = i + ahead(random); to < tasks) successors.insert(to);
    }
    graph.tasks.push_back({"t", 1.0 + i % 7, 0, {successors.begin(), successors.end()}});
  }
  const slack_plan plan = plan_slack(graph, 48, clocks, 0.02);
  EXPECT_LE(plan.end, plan.end_at_top * 1.02 * (1 + 1e-9));
  EXPECT_GT(plan.slowed, 0u);
}

}  // namespace

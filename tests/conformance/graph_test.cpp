// SPDX-License-Identifier: Apache-2.0
// Graphs: order, runs of one graph again, conditions, graphs in graphs.
#include <gmock/gmock.h>

#include <atomic>
#include <vector>

#include "graph_misuse.hpp"
#include "setups.hpp"

namespace {

using namespace conformance;
using testing::ElementsAre;
using testing::HasSubstr;

class Graph : public Conformance {};
CONFORMANCE(Graph);

TEST_P(Graph, RunsNodesAfterAllTheirPredecessors) {
  in_each_runtime([] {
    int a_ = 0, b_ = 0, c_ = 0, d_ = 0;
    creek::graph g;
    auto [a, b, c, d] = g.emplace([&] { a_ = 1; }, [&] { b_ = a_ + 1; }, [&] { c_ = a_ + 2; },
                                  [&] { d_ = b_ * c_; });
    a.precede(b, c);
    d.succeed(b, c);
    g.run();
    EXPECT_EQ(d_, 6);
    EXPECT_EQ(g.size(), 4U);
    EXPECT_EQ(a.successor_count(), 2U);
  });
}

TEST_P(Graph, RunsAgainWithoutBeingBuiltAgain) {
  on_each_runtime([](creek::runtime& rt) {
    std::vector<int> order;
    std::atomic<int> wide{0};
    creek::graph g("again");
    auto first = g.emplace([&] { order.push_back(1); });
    auto last = g.emplace([&] { order.push_back(wide.load()); });
    for (int i = 0; i < 10; ++i) g.emplace([&] { ++wide; }).succeed(first).precede(last);
    rt.run(g);
    rt.run([&] { g.run_n(2); });
    rt.run([&] { g.run_n(0); });
    int asked = 0;
    rt.run([&] { g.run_until([&] { return asked++ == 2; }); });
    EXPECT_THAT(order, ElementsAre(1, 10, 1, 20, 1, 30, 1, 40, 1, 50));
    rt.run([&] { first.precede(g.emplace([&] { order.push_back(0); }).precede(last)); });
    rt.run(g);
    EXPECT_THAT(order, testing::Contains(0).Times(1));
  });
}

TEST_P(Graph, AnEmptyGraphAndIndependentNodesRun) {
  in_each_runtime([] {
    creek::graph g;
    g.run();
    std::atomic<int> ran{0};
    for (int i = 0; i < 100; ++i) g.emplace([&] { ++ran; });
    g.run();
    EXPECT_EQ(ran, 100);
    g.clear();
    EXPECT_TRUE(g.empty());
    g.emplace([&] { ran = 0; });
    g.run();
    EXPECT_EQ(ran, 0);
  });
}

TEST_P(Graph, LinearizeMakesAChain) {
  in_each_runtime([] {
    std::vector<int> order;
    creek::graph g;
    std::vector<creek::graph::node> nodes;
    for (int i = 0; i < 5; ++i) nodes.push_back(g.emplace([&, i] { order.push_back(i); }));
    g.linearize(nodes);
    auto after = g.emplace([&] { order.push_back(5); });
    g.linearize({nodes.back(), after});
    g.run();
    EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 4, 5));
  });
}

TEST_P(Graph, AConditionPicksASuccessor) {
  in_each_runtime([] {
    std::vector<int> taken;
    int choice = 0;
    creek::graph g;
    auto init = g.emplace([] {});
    auto pick = g.condition([&] { return choice; });
    init.precede(pick);
    for (int i = 0; i < 3; ++i) pick.precede(g.emplace([&, i] { taken.push_back(i); }));
    for (choice = -1; choice <= 3; ++choice) g.run();
    EXPECT_THAT(taken, ElementsAre(0, 1, 2));
  });
}

TEST_P(Graph, ConditionsLoop) {
  in_each_runtime([] {
    int i = 0, bodies = 0, selves = 0;
    std::atomic<int> wide{0};
    creek::graph g;
    auto [init, body, join, done] = g.emplace([&] { i = 0; }, [&] { ++bodies; },
                                              [&] {
                                                EXPECT_EQ(wide % 3, 0);
                                                ++i;
                                              },
                                              [] {});
    auto again = g.condition([&] { return i < 5 ? 0 : 1; });
    auto self = g.condition([&] { return ++selves % 4 == 0; });
    init.precede(body);
    for (int k = 0; k < 3; ++k) g.emplace([&] { ++wide; }).succeed(body).precede(join);
    join.precede(again);
    again.precede(body, self);
    self.precede(self, done);
    g.run_n(2);
    EXPECT_EQ(bodies, 10);
    EXPECT_EQ(wide, 30);
    EXPECT_EQ(selves, 8);
  });
}

// The branch that is not taken does not count down its successors; the next run begins anew.
TEST_P(Graph, ABranchThatIsNotTakenLeavesNothingBehind) {
  in_each_runtime([] {
    int choice = 0, left = 0, right = 0, both = 0;
    creek::graph g;
    auto pick = g.condition([&] { return choice; });
    auto [a, b, join] = g.emplace([&] { ++left; }, [&] { ++right; }, [&] { ++both; });
    pick.succeed(g.emplace([] {})).precede(a, b);
    join.succeed(a, b);
    for (int run = 0; run < 4; ++run) {
      choice = run % 2;
      g.run();
    }
    EXPECT_EQ(left, 2);
    EXPECT_EQ(right, 2);
    EXPECT_EQ(both, 0);
  });
}

TEST_P(Graph, AConditionStartsANodeWhateverItsOtherPredecessorsDo) {
  in_each_runtime([] {
    int ran = 0;
    creek::graph g;
    auto pick = g.condition([] { return 0u; });
    auto never = g.condition([] { return 1; });
    auto behind = g.emplace([] {});
    auto target = g.emplace([&] { ++ran; });
    g.emplace([] {}).precede(pick, never);
    never.precede(behind);
    behind.precede(target);
    pick.precede(target);
    g.run_n(3);
    EXPECT_EQ(ran, 3);
  });
}

TEST_P(Graph, AMultiConditionPicksSeveral) {
  in_each_runtime([] {
    std::array<std::atomic<int>, 4> ran{};
    std::vector<int> chosen;
    creek::graph g;
    auto pick = g.multi_condition([&]() -> const std::vector<int>& { return chosen; });
    g.emplace([] {}).precede(pick);
    for (auto& count : ran) pick.precede(g.emplace([&] { ++count; }));
    g.run();
    chosen = {3, 1, 7, -1};
    g.run_n(2);
    EXPECT_EQ(ran[0], 0);
    EXPECT_EQ(ran[1], 2);
    EXPECT_EQ(ran[2], 0);
    EXPECT_EQ(ran[3], 2);
  });
}

// Each round starts two nodes and the condition itself, which may choose again at once.
TEST_P(Graph, AMultiConditionMayPickItself) {
  in_each_runtime([] {
    constexpr int rounds = 20;
    std::array<std::atomic<int>, 2 * rounds> ran{};
    int round = 0;
    creek::graph g;
    auto pick = g.multi_condition([&]() -> std::vector<int> {
      if (round == rounds) return {};
      ++round;
      return {2 * round - 1, 0, 2 * round};
    });
    g.emplace([] {}).precede(pick);
    pick.precede(pick);
    for (auto& count : ran) pick.precede(g.emplace([&] { ++count; }));
    g.run();
    for (const auto& count : ran) EXPECT_EQ(count, 1);
  });
}

TEST_P(Graph, ANodeEndsWithAllThatItSpawned) {
  in_each_runtime([] {
    std::atomic<int> ran{0};
    int seen = 0;
    long result = 0;
    creek::graph g;
    auto flow = g.emplace([&] {
      for (int i = 0; i < 10; ++i) {
        creek::spawn([&] {
          creek::spawn([&] { ++ran; });
          ++ran;
        });
      }
    });
    flow.precede(g.emplace([&] { seen = ran; }), g.emplace([&] { result = fib(10); }));
    g.run_n(2);
    EXPECT_EQ(seen, 40);
    EXPECT_EQ(result, fib_sequential(10));
  });
}

TEST_P(Graph, GraphsAreNodesOfGraphs) {
  in_each_runtime([] {
    std::vector<int> order;
    std::atomic<int> wide{0};
    creek::graph inner("inner"), middle, outer("outer");
    auto last = inner.emplace([&] { order.push_back(wide.exchange(0)); });
    for (int i = 0; i < 4; ++i) inner.emplace([&] { ++wide; }).precede(last);
    middle.composed_of(inner);
    auto first = outer.emplace([&] { order.push_back(1); });
    auto module = outer.composed_of(middle);
    first.precede(module);
    module.precede(outer.emplace([&] { order.push_back(2); }));
    outer.run_n(2);
    EXPECT_THAT(order, ElementsAre(1, 4, 2, 1, 4, 2));
    // A node may also run a graph itself.
    creek::graph other;
    other.emplace(std::ref(outer));
    other.run();
    EXPECT_EQ(order.size(), 9U);
    EXPECT_THAT(misuse_of([&] { inner.composed_of(outer); }), HasSubstr("composed of itself"));
    EXPECT_THAT(misuse_of([&] { inner.composed_of(inner); }), HasSubstr("'inner'"));
  });
}

TEST_P(Graph, NodesMayWaitForEachOther) {
  in_each_runtime([] {
    for (int round = 0; round < 3; ++round) {
      creek::promise<int> promise;
      auto future = promise.get_future();
      int got = 0;
      creek::graph g;
      auto [start, waits, sets] =
          g.emplace([] {}, [&] { got = future.get(); }, [&] { promise.set_value(7); });
      start.precede(waits, sets);
      g.run();
      EXPECT_EQ(got, 7);
    }
  });
}

TEST_P(Graph, DeepAndWideGraphsNeedNoDeepStack) {
  on_each_runtime(
      [](creek::runtime& rt) {
        std::atomic<int> ran{0};
        creek::graph deep, wide, comb;
        std::vector<creek::graph::node> chain, teeth;
        for (int i = 0; i < 3000; ++i) chain.push_back(deep.emplace([&] { ++ran; }));
        deep.linearize(chain);
        auto first = wide.emplace([] {}), last = wide.emplace([&] { EXPECT_EQ(ran, 600); });
        for (int i = 0; i < 600; ++i) wide.emplace([&] { ++ran; }).succeed(first).precede(last);
        // Each node of a chain has a second successor, more than a deque holds.
        for (int i = 0; i < 1000; ++i) {
          teeth.push_back(comb.emplace([&] { ++ran; }));
          comb.emplace([&] { ++ran; }).succeed(teeth.back());
        }
        comb.linearize(teeth);
        rt.run(deep);
        EXPECT_EQ(ran.exchange(0), 3000);
        rt.run(wide);
        EXPECT_EQ(ran.exchange(0), 600);
        rt.run(comb);
        EXPECT_EQ(ran, 2000);
      },
      64);
}

TEST_P(Graph, DotShowsNodesEdgesAndInnerGraphs) {
  creek::graph inner("in"), g("a \"b\"");
  inner.emplace([] {});
  auto x = g.emplace([] {}).name("x");
  auto pick = g.condition([] { return 0; }).name("pick");
  auto module = g.composed_of(inner);
  x.precede(pick);
  pick.precede(x, module);
  const std::string text = g.dot();
  EXPECT_THAT(text, testing::StartsWith("digraph \"a \\\"b\\\"\" {\n"));
  EXPECT_THAT(text, HasSubstr("n0_0 [label=\"x\"];\n"));
  EXPECT_THAT(text, HasSubstr("n0_0 -> n0_1;\n"));
  EXPECT_THAT(text, HasSubstr("n0_1 [label=\"pick\", shape=diamond];\n"));
  EXPECT_THAT(text, HasSubstr("n0_1 -> n0_2 [style=dashed, label=\"1\"];\n"));
  EXPECT_THAT(text, HasSubstr("subgraph cluster_1 {\nlabel=\"in\";\nn1_0 "));
}

/// Runs of a graph on the chip begin the same nodes on the same cores in the same order.
TEST_P(Graph, RunsRepeatOnTheChip) {
  if (!is_simulated()) GTEST_SKIP() << "runs of other backends do not repeat";
  for (const creek::scheduler_options& options : variants(GetParam())) {
    std::vector<std::vector<int>> orders;
    for (int time = 0; time < 2; ++time) {
      creek::runtime rt = make_runtime(options, GetParam().backend);
      std::vector<int> order;
      creek::graph g;
      std::vector<creek::graph::node> nodes;
      for (int i = 0; i < 64; ++i) {
        nodes.push_back(g.emplace([&, i] {
          order.push_back(i);
          order.push_back(creek::this_worker());
          creek::charge(creek::cycles{1000});
        }));
        if (i >= 8)
          nodes[static_cast<std::size_t>(i)].succeed(nodes[static_cast<std::size_t>(i - 8)]);
        if (i % 8 != 0)
          nodes[static_cast<std::size_t>(i)].succeed(nodes[static_cast<std::size_t>(i - 1)]);
      }
      rt.run(g);
      orders.push_back(order);
    }
    EXPECT_EQ(orders[0], orders[1]) << describe(options);
  }
}

}  // namespace

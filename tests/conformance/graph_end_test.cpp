// SPDX-License-Identifier: Apache-2.0
// Graphs whose run ends early or is refused: exceptions, stop requests, misuse.
#include <gmock/gmock.h>

#include <atomic>
#include <string>
#include <vector>

#include "graph_misuse.hpp"
#include "setups.hpp"

namespace {

using namespace conformance;
using testing::HasSubstr;

class GraphEnd : public Conformance {};
CONFORMANCE(GraphEnd);

TEST_P(GraphEnd, TheFirstExceptionEndsTheRun) {
  in_each_runtime([] {
    std::atomic<int> ran{0};
    bool fails = true;
    creek::graph g;
    auto [first, bad, join] = g.emplace([] {},
                                        [&] {
                                          if (fails) throw failure{3};
                                        },
                                        [&] { ++ran; });
    auto good = g.emplace([] {});
    first.precede(bad, good);
    join.succeed(bad, good);
    EXPECT_EQ(failure_of([&] { g.run_n(5); }), 3);
    EXPECT_EQ(ran, 0);
    fails = false;
    g.run_n(2);
    EXPECT_EQ(ran, 2);
    creek::graph late;
    late.emplace([] { creek::spawn([] { throw failure{4}; }); }).precede(late.emplace([&] {
      ran = 0;
    }));
    EXPECT_EQ(failure_of([&] { late.run(); }), 4);
    EXPECT_EQ(ran, 2);
  });
}

TEST_P(GraphEnd, AnExceptionInAnInnerGraphEndsTheOuterOne) {
  in_each_runtime([] {
    std::atomic<int> ran{0};
    creek::graph inner, outer;
    inner.emplace([] { throw failure{5}; }).precede(inner.emplace([&] { ++ran; }));
    outer.composed_of(inner).precede(outer.emplace([&] { ++ran; }));
    for (int i = 0; i < 2; ++i) EXPECT_EQ(failure_of([&] { outer.run(); }), 5);
    EXPECT_EQ(ran, 0);
  });
}

TEST_P(GraphEnd, AStopRequestKeepsNodesFromBeginning) {
  in_each_runtime([] {
    std::stop_source source;
    int before = 0, after = 0;
    creek::graph inner, g;
    inner
        .emplace([&] {
          ++before;
          source.request_stop();
        })
        .precede(inner.emplace([&] { ++after; }));
    auto join = g.emplace([&] { ++after; });
    g.composed_of(inner).precede(join);
    g.emplace([] {}).precede(join);
    g.run_n(3, source.get_token());
    EXPECT_EQ(before, 1);
    EXPECT_EQ(after, 0);
    g.run_n(3, source.get_token());
    EXPECT_EQ(before, 1);
    g.run();
    EXPECT_EQ(before, 2);
    EXPECT_EQ(after, 2);
  });
}

TEST_P(GraphEnd, AGraphThatCannotRunIsRefused) {
  in_each_runtime([] {
    creek::graph g("knot");
    auto [a, b, c, d] = g.emplace([] {}, [] {}, [] {}, [] {});
    a.name("a").precede(b);
    b.name("b").precede(c);
    c.name("c").precede(d);
    EXPECT_EQ(misuse_of([&] { g.run(); }), "");
    c.precede(b);
    const std::string cycle = misuse_of([&] { g.run(); });
    EXPECT_THAT(cycle, HasSubstr("'knot'"));
    EXPECT_THAT(cycle, testing::AnyOf(HasSubstr("b -> c -> b;"), HasSubstr("c -> b -> c;")));
    EXPECT_THAT(misuse_of([&] { g.run(); }), HasSubstr("cycle"));

    creek::graph loop;
    auto only = loop.condition([] { return 0; });
    only.precede(only.name("lonely"));
    EXPECT_THAT(misuse_of([&] { loop.run(); }), HasSubstr("can be the first"));
    EXPECT_THAT(misuse_of([&] { loop.run(); }), HasSubstr("lonely"));
    loop.emplace([&] {}).precede(loop.condition([] { return 9; }));
    loop.run();  // has a first node now

    creek::graph self;
    auto node = self.emplace([] {});
    node.precede(node);
    EXPECT_THAT(misuse_of([&] { self.run(); }), HasSubstr("node 0 -> node 0"));
  });
}

TEST_P(GraphEnd, ChangesDuringARunAreRefused) {
  in_each_runtime([] {
    creek::graph g("busy"), other;
    creek::graph::node a = g.emplace([] {}), foreign = other.emplace([] {});
    std::vector<std::string> said;
    auto checks = g.emplace([&] {
      said.push_back(misuse_of([&] { g.emplace([] {}); }));
      said.push_back(misuse_of([&] { a.precede(a); }));
      said.push_back(misuse_of([&] { a.name("b"); }));
      said.push_back(misuse_of([&] { g.clear(); }));
      said.push_back(misuse_of([&] { g.run(); }));
    });
    a.precede(checks);
    g.run();
    EXPECT_THAT(said, testing::Each(HasSubstr("'busy'")));
    EXPECT_THAT(misuse_of([&] { a.precede(foreign); }), HasSubstr("two graphs"));
    EXPECT_THAT(misuse_of([&] { creek::graph::node().precede(a); }), HasSubstr("no node"));
    g.run();
  });
}

TEST_P(GraphEnd, RunOutsideARuntimeIsMisuse) {
  creek::graph g;
  g.emplace([] {});
  EXPECT_THROW(g.run(), creek::usage_error);
}

}  // namespace

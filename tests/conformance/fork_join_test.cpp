// SPDX-License-Identifier: Apache-2.0
// fork_join: results of every kind, exceptions, shapes of the tree, full deques.
#include <memory>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "setups.hpp"

namespace {

using namespace conformance;

class ForkJoin : public Conformance {};
CONFORMANCE(ForkJoin);

TEST_P(ForkJoin, GivesBothResults) {
  in_each_runtime([] {
    const auto [number, text] =
        creek::fork_join([] { return 7; }, [] { return std::string("seven"); });
    EXPECT_EQ(number, 7);
    EXPECT_EQ(text, "seven");
  });
}

TEST_P(ForkJoin, GivesMonostateForNothing) {
  in_each_runtime([] {
    int left = 0, right = 0;
    auto nothing = creek::fork_join([&] { left = 1; }, [&] { right = 2; });
    static_assert(std::is_same_v<decltype(nothing), std::pair<std::monostate, std::monostate>>);
    auto mixed = creek::fork_join([&] { left = 3; }, [] { return 4; });
    static_assert(std::is_same_v<decltype(mixed), std::pair<std::monostate, int>>);
    EXPECT_EQ(left, 3);
    EXPECT_EQ(right, 2);
    EXPECT_EQ(mixed.second, 4);
  });
}

TEST_P(ForkJoin, MovesResultsThatCannotBeCopiedOrDefaulted) {
  struct only_movable {
    explicit only_movable(int v) : value(std::make_unique<int>(v)) {}
    std::unique_ptr<int> value;
  };
  in_each_runtime([] {
    auto [a, b] = creek::fork_join([] { return only_movable(1); }, [] { return only_movable(2); });
    EXPECT_EQ(*a.value, 1);
    EXPECT_EQ(*b.value, 2);
  });
}

TEST_P(ForkJoin, DecaysReferences) {
  in_each_runtime([] {
    int x = 1, y = 2;
    auto both = creek::fork_join([&]() -> int& { return x; }, [&]() -> const int& { return y; });
    static_assert(std::is_same_v<decltype(both), std::pair<int, int>>);
    x = y = 0;
    EXPECT_EQ(both, std::pair(1, 2));
  });
}

TEST_P(ForkJoin, CallsItsArgumentsNotCopies) {
  struct counter {
    int calls = 0;
    counter() = default;
    counter(const counter&) = delete;
    int operator()() { return ++calls; }
  };
  in_each_runtime([] {
    counter f, g;
    creek::fork_join(f, g);
    creek::fork_join(f, g);
    EXPECT_EQ(f.calls, 2);
    EXPECT_EQ(g.calls, 2);
  });
}

TEST_P(ForkJoin, TakesManyFunctions) {
  in_each_runtime([] {
    const auto one = [] { return 1; };
    EXPECT_EQ(creek::fork_join(one, one, one), std::tuple(1, 1, 1));
    EXPECT_EQ(creek::fork_join([] { return 1; }, [] { return 2; }, [] {}, [] { return 4.5; }),
              std::tuple(1, 2, std::monostate{}, 4.5));
    EXPECT_EQ(
        creek::fork_join([] { return 1; }, [] { return 2; }, [] { return 3; }, [] { return 4; },
                         [] { return 5; }, [] { return 6; }, [] { return 7; }),
        std::tuple(1, 2, 3, 4, 5, 6, 7));
  });
}

TEST_P(ForkJoin, RethrowsAfterTheOtherBranchHasEnded) {
  in_each_runtime([] {
    bool other = false;
    EXPECT_EQ(failure_of([&] {
                creek::fork_join([]() -> int { throw failure{1}; }, [&] { other = true; });
              }),
              1);
    EXPECT_TRUE(other);
    other = false;
    EXPECT_EQ(failure_of([&] {
                creek::fork_join([&] { other = true; }, []() -> int { throw failure{2}; });
              }),
              2);
    EXPECT_TRUE(other);
  });
}

TEST_P(ForkJoin, PrefersTheFirstBranchsException) {
  in_each_runtime([] {
    EXPECT_EQ(
        failure_of([] { creek::fork_join([] { throw failure{1}; }, [] { throw failure{2}; }); }),
        1);
    EXPECT_EQ(failure_of([] {
                creek::fork_join([] {}, [] { throw failure{2}; }, [] { throw failure{3}; },
                                 [] { throw failure{4}; });
              }),
              2);
  });
}

TEST_P(ForkJoin, DestroysTheOtherBranchsResult) {
  on_each_runtime([](creek::runtime& rt) {
    std::atomic<int> alive{0};
    rt.run([&] {
      const auto make = [&] { return counted(alive); };
      for (int round = 0; round < 20; ++round) {
        EXPECT_EQ(failure_of([&] { creek::fork_join([] { throw failure{1}; }, make); }), 1);
        EXPECT_EQ(failure_of([&] { creek::fork_join(make, [] { throw failure{2}; }); }), 2);
        creek::fork_join(make, make);
      }
    });
    EXPECT_EQ(alive, 0);
  });
}

int throw_at_depth(int depth, int where) {
  if (depth == 0) throw failure{where};
  const auto deeper = [=] { return throw_at_depth(depth - 1, where); };
  const auto [a, b] = depth % 2 == 0 ? creek::fork_join([] { return 1; }, deeper)
                                     : creek::fork_join(deeper, [] { return 1; });
  return a + b;
}

TEST_P(ForkJoin, CarriesExceptionsThroughNestedForks) {
  in_each_runtime([] {
    for (const int depth : {0, 1, 2, 7, 40}) {
      EXPECT_EQ(failure_of([&] { throw_at_depth(depth, depth + 1); }), depth + 1);
    }
  });
}

TEST_P(ForkJoin, ForksWhileAnExceptionIsHandled) {
  in_each_runtime([] {
    try {
      throw failure{3};
    } catch (...) {
      EXPECT_EQ(fib(12), fib_sequential(12));
      const auto again = std::current_exception();
      EXPECT_EQ(failure_of([&] { std::rethrow_exception(again); }), 3);
    }
    EXPECT_EQ(std::uncaught_exceptions(), 0);
  });
}

TEST_P(ForkJoin, ComputesFib) {
  in_each_runtime([] { EXPECT_EQ(fib(17), fib_sequential(17)); });
}

/// Returns the nodes of a comb of `n` teeth; the spine continues in the first or the second branch.
long comb(int n, bool spine_first) {
  if (n == 0) return 1;
  const auto spine = [=] { return comb(n - 1, spine_first); };
  const auto tooth = [] { return 1L; };
  const auto [a, b] = spine_first ? creek::fork_join(spine, tooth) : creek::fork_join(tooth, spine);
  return a + b;
}

TEST_P(ForkJoin, CopesWithUnbalancedTrees) {
  in_each_runtime([] {
    EXPECT_EQ(comb(500, true), 501);
    EXPECT_EQ(comb(500, false), 501);
  });
}

TEST_P(ForkJoin, RunsInlineWhenTheDequeIsFull) {
  for (const std::uint32_t capacity : {2U, 3U, 5U}) {
    in_each_runtime(
        [] {
          EXPECT_EQ(fib(12), fib_sequential(12));
          EXPECT_EQ(comb(100, true), 101);
          EXPECT_EQ(failure_of([] { throw_at_depth(20, 5); }), 5);
        },
        capacity);
  }
}

TEST_P(ForkJoin, LetsBranchesWaitForOneAnother) {
  in_each_runtime([] {
    for (const bool first_waits : {true, false}) {
      creek::promise<int> promise;
      auto future = promise.get_future();
      const auto waits = [&] { return future.get(); };
      const auto sets = [&] {
        promise.set_value(5);
        return 6;
      };
      const auto [a, b] =
          first_waits ? creek::fork_join(waits, sets) : creek::fork_join(sets, waits);
      EXPECT_EQ(a + b, 11);
    }
  });
}

}  // namespace

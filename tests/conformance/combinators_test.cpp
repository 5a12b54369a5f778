// SPDX-License-Identifier: Apache-2.0
// then, when_all, when_any.
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <variant>
#include <vector>

#include "setups.hpp"

namespace {

using namespace conformance;

class Combinators : public Conformance {};
CONFORMANCE(Combinators);

TEST_P(Combinators, ThenChains) {
  in_each_runtime([] {
    auto text = creek::async([] { return 20; })
                    .then([](int x) { return x + 1; })
                    .then([](int x) { return std::make_unique<int>(2 * x); })
                    .then([](std::unique_ptr<int> p) { return std::to_string(*p); });
    EXPECT_EQ(text.get(), "42");
    int steps = 0;
    creek::async([&] { ++steps; }).then([&] { ++steps; }).then([&] { return ++steps; }).get();
    EXPECT_EQ(steps, 3);
  });
}

TEST_P(Combinators, ThenOnReadyAndOnLateFutures) {
  in_each_runtime([] {
    EXPECT_EQ(creek::make_ready_future(1).then([](int x) { return x + 1; }).get(), 2);
    creek::promise<int> promise;
    auto late = promise.get_future().then([](int x) { return x * 10; });
    EXPECT_FALSE(late.ready());
    promise.set_value(4);
    EXPECT_EQ(late.get(), 40);
  });
}

TEST_P(Combinators, ThenIsSkippedByExceptionsAndMayThrow) {
  in_each_runtime([] {
    bool called = false;
    auto skipped = creek::async([]() -> int { throw failure{1}; })
                       .then([&](int x) {
                         called = true;
                         return x;
                       })
                       .then([&](int) { called = true; });
    EXPECT_EQ(failure_of([&] { skipped.get(); }), 1);
    EXPECT_FALSE(called);
    auto thrown = creek::async([] { return 1; }).then([](int) -> int { throw failure{2}; });
    EXPECT_EQ(failure_of([&] { thrown.get(); }), 2);
  });
}

TEST_P(Combinators, ThenRunsAsATaskThatMayWait) {
  in_each_runtime([] {
    auto future = creek::async([] { return 5; }).then([](int x) {
      int below = 0;
      creek::spawn([&] { below = x; });
      creek::taskwait();
      return below + creek::async([] { return 1; }).get();
    });
    EXPECT_EQ(future.get(), 6);
  });
}

TEST_P(Combinators, LongChains) {
  in_each_runtime([] {
    auto future = creek::async([] { return 0; });
    for (int i = 0; i < 200; ++i) future = future.then([](int x) { return x + 1; });
    EXPECT_EQ(future.get(), 200);
  });
}

TEST_P(Combinators, ThenOutsideARuntimeRunsWhereThePromiseIsSet) {
  std::thread::id ran_on;
  creek::promise<int> promise;
  auto future = promise.get_future().then([&](int x) {
    ran_on = std::this_thread::get_id();
    return x + 1;
  });
  std::thread::id set_on;
  std::jthread([&] {
    set_on = std::this_thread::get_id();
    promise.set_value(1);
  }).join();
  EXPECT_EQ(future.get(), 2);
  EXPECT_EQ(ran_on, set_on);
}

TEST_P(Combinators, WhenAllGathersATuple) {
  in_each_runtime([] {
    creek::promise<std::string> late;
    auto all = creek::when_all(creek::async([] { return 1; }), late.get_future(),
                               creek::async([] {}), creek::make_ready_future(2.5));
    creek::spawn([&] { late.set_value("two"); });
    const auto values = all.get();
    EXPECT_EQ(values, std::tuple(1, std::string("two"), std::monostate{}, 2.5));
    creek::taskwait();
  });
}

TEST_P(Combinators, WhenAllGathersAVector) {
  in_each_runtime([] {
    for (const std::size_t n : {0U, 1U, 2U, 50U}) {
      std::vector<creek::future<std::size_t>> futures;
      std::vector<std::size_t> expected;
      for (std::size_t i = 0; i < n; ++i) {
        futures.push_back(creek::async([i] { return i * i; }));
        expected.push_back(i * i);
      }
      EXPECT_EQ(creek::when_all(std::move(futures)).get(), expected);
    }
  });
}

TEST_P(Combinators, WhenAllGivesTheFirstExceptionInOrder) {
  in_each_runtime([] {
    creek::promise<int> late;
    auto all = creek::when_all(creek::async([] { return 1; }), late.get_future(),
                               creek::async([]() -> int { throw failure{3}; }));
    late.set_exception(std::make_exception_ptr(failure{2}));
    EXPECT_EQ(failure_of([&] { all.get(); }), 2);
  });
}

TEST_P(Combinators, WhenAnyTellsWhichIsReady) {
  in_each_runtime([] {
    std::vector<creek::promise<int>> promises(5);
    std::vector<creek::future<int>> futures;
    for (auto& promise : promises) futures.push_back(promise.get_future());
    auto any = creek::when_any(std::move(futures));
    EXPECT_FALSE(any.ready());
    promises[3].set_value(33);
    auto result = any.get();
    EXPECT_EQ(result.index, 3U);
    ASSERT_EQ(result.futures.size(), 5U);
    EXPECT_EQ(result.futures[3].get(), 33);
    promises[0].set_value(10);
    EXPECT_EQ(result.futures[0].get(), 10);
  });
}

TEST_P(Combinators, WhenAnyOfRunningTasks) {
  in_each_runtime([] {
    std::vector<creek::future<int>> futures;
    for (int i = 0; i < 10; ++i) futures.push_back(creek::async([i] { return i; }));
    auto result = creek::when_any(std::move(futures)).get();
    EXPECT_EQ(result.futures.at(result.index).get(), static_cast<int>(result.index));
    for (std::size_t i = 0; i < result.futures.size(); ++i) {
      if (i == result.index) continue;
      EXPECT_EQ(result.futures[i].get(), static_cast<int>(i));
    }
  });
}

TEST_P(Combinators, WhenAnyOfReadyOnesAndOfFailures) {
  in_each_runtime([] {
    std::vector<creek::future<int>> futures;
    futures.push_back(creek::make_ready_future(1));
    futures.push_back(creek::make_ready_future(2));
    EXPECT_LT(creek::when_any(std::move(futures)).get().index, 2U);
    std::vector<creek::future<int>> failing;
    failing.push_back(creek::async([]() -> int { throw failure{9}; }));
    auto result = creek::when_any(std::move(failing)).get();
    EXPECT_EQ(failure_of([&] { result.futures[0].get(); }), 9);
  });
}

TEST_P(Combinators, EmptyFuturesAreMisuse) {
  in_each_runtime([] {
    EXPECT_THROW(static_cast<void>(creek::when_any(std::vector<creek::future<int>>{})),
                 creek::usage_error);
    EXPECT_THROW(static_cast<void>(creek::when_any(std::vector<creek::future<int>>(2))),
                 creek::usage_error);
    EXPECT_THROW(static_cast<void>(creek::when_all(std::vector<creek::future<int>>(2))),
                 creek::usage_error);
    EXPECT_THROW(static_cast<void>(creek::when_all(creek::future<int>())), creek::usage_error);
  });
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// async, future and promise: results, exceptions, misuse, and threads that belong to no runtime.
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "setups.hpp"

namespace {

using namespace conformance;

class Future : public Conformance {};
CONFORMANCE(Future);

long async_fib(int n) {
  if (n < 2) return n;
  auto a = creek::async(async_fib, n - 1);
  const long b = async_fib(n - 2);
  return a.get() + b;
}

TEST_P(Future, AsyncGivesItsResult) {
  in_each_runtime([] {
    EXPECT_EQ(creek::async([] { return 3; }).get(), 3);
    EXPECT_EQ(creek::async([](int a, int b) { return a * b; }, 6, 7).get(), 42);
    int written = 0;
    creek::async([&] { written = 5; }).get();
    EXPECT_EQ(written, 5);
  });
}

TEST_P(Future, AsyncStoresItsArgumentsDecayed) {
  in_each_runtime([] {
    std::string text = "before";
    auto copied = creek::async([](const std::string& s) { return s; }, text);
    text = "after";
    EXPECT_EQ(copied.get(), "before");
    auto moved = creek::async([](std::unique_ptr<int> p) { return p; }, std::make_unique<int>(9));
    EXPECT_EQ(*moved.get(), 9);
    int referred = 0;
    creek::async([](int& r) { r = 2; }, std::ref(referred)).get();
    EXPECT_EQ(referred, 2);
  });
}

TEST_P(Future, AsyncDecaysTheResult) {
  in_each_runtime([] {
    int x = 4;
    auto future = creek::async([&]() -> int& { return x; });
    static_assert(std::is_same_v<decltype(future), creek::future<int>>);
    EXPECT_EQ(future.get(), 4);
  });
}

TEST_P(Future, GetRethrows) {
  in_each_runtime([] {
    auto value = creek::async([]() -> int { throw failure{1}; });
    EXPECT_EQ(failure_of([&] { value.get(); }), 1);
    auto nothing = creek::async([] { throw failure{2}; });
    nothing.wait();
    EXPECT_EQ(failure_of([&] { nothing.get(); }), 2);
  });
}

TEST_P(Future, AsyncOfARuntimeTakesTheSame) {
  on_each_runtime([](creek::runtime& rt) {
    EXPECT_EQ(rt.async([](int a, int b) { return a * b; }, 6, 7).get(), 42);
    EXPECT_EQ(rt.async(async_fib, 9).get(), fib_sequential(9));
    std::string text = "before";
    auto copied = rt.async([](const std::string& s) { return s; }, text);
    text = "after";
    EXPECT_EQ(copied.get(), "before");
    auto moved = rt.async([](std::unique_ptr<int> p) { return p; }, std::make_unique<int>(9));
    EXPECT_EQ(*moved.get(), 9);
    int referred = 0;
    rt.async([](int& r) { r = 2; }, std::ref(referred)).get();
    EXPECT_EQ(referred, 2);
  });
}

TEST_P(Future, SaysWhyItHasNoResult) {
  const auto complaint = [](auto&& use) -> std::string {
    try {
      use();
    } catch (const creek::usage_error& failure) {
      return failure.what();
    }
    return "none";
  };
  in_each_runtime([&] {
    creek::future<int> never;
    EXPECT_EQ(complaint([&] { never.get(); }),
              "future::get: the future has no state; it was made empty or moved from");
    EXPECT_EQ(complaint([&] { never.wait(); }),
              "future::wait: the future has no state; it was made empty or moved from");
    auto taken = creek::async([] { return 1; });
    taken.get();
    EXPECT_EQ(complaint([&] { taken.get(); }), "future::get: the result was taken before");
    EXPECT_EQ(complaint([&] { taken.detach(); }), "future::detach: the result was taken before");
    auto from = creek::async([] { return 2; });
    taken = std::move(from);
    EXPECT_EQ(complaint([&] { from.get(); }),
              "future::get: the future has no state; it was made empty or moved from");
    EXPECT_EQ(taken.get(), 2);
  });
}

TEST_P(Future, AssignmentLetsGoOfTheOldResult) {
  in_each_runtime([] {
    std::atomic<int> alive{0};
    creek::promise<counted> promise;
    auto future = promise.get_future();
    promise.set_value(alive);
    promise = creek::promise<counted>();
    EXPECT_EQ(alive, 1);
    creek::future<counted> other;
    future = std::move(other);
    EXPECT_EQ(alive, 0);
    EXPECT_FALSE(future.valid());
    EXPECT_FALSE(other.valid());
  });
}

TEST_P(Future, GetConsumes) {
  in_each_runtime([] {
    auto future = creek::async([] { return 1; });
    EXPECT_TRUE(future.valid());
    future.wait();
    EXPECT_TRUE(future.ready());
    EXPECT_TRUE(future.valid());
    EXPECT_EQ(future.get(), 1);
    EXPECT_FALSE(future.valid());
    EXPECT_FALSE(future.ready());
    EXPECT_THROW(future.get(), creek::usage_error);
    EXPECT_THROW(future.wait(), creek::usage_error);
    EXPECT_THROW((void)future.then([](int) {}), creek::usage_error);
  });
}

TEST_P(Future, AsyncEndsWithAllThatItSpawned) {
  in_each_runtime([] {
    std::atomic<int> ran{0};
    creek::async([&] {
      for (int i = 0; i < 10; ++i) {
        creek::spawn([&] {
          creek::spawn([&] { ++ran; });
          ++ran;
        });
      }
    }).get();
    EXPECT_EQ(ran, 20);
    auto failing = creek::async([] { creek::spawn([] { throw failure{3}; }); });
    EXPECT_EQ(failure_of([&] { failing.get(); }), 3);
  });
}

TEST_P(Future, AsyncNests) {
  in_each_runtime([] { EXPECT_EQ(async_fib(13), fib_sequential(13)); });
}

TEST_P(Future, ManyMayBeOpenAndTakenInAnyOrder) {
  in_each_runtime([] {
    for (const int step : {1, 7, 99}) {
      std::vector<creek::future<int>> futures;
      for (int i = 0; i < 100; ++i) futures.push_back(creek::async([i] { return i * i; }));
      long sum = 0;
      for (int i = 0, k = 0; i < 100; ++i, k = (k + step) % 100) {
        auto& next = futures[static_cast<std::size_t>(k)];
        ASSERT_TRUE(next.valid());
        sum += next.get();
      }
      EXPECT_EQ(sum, 328350);
    }
  });
}

TEST_P(Future, ADroppedOneLetsItsTaskRun) {
  if (GetParam().workers == 0) return;
  for (creek::scheduler_options options : variants(GetParam())) {
    std::atomic<int> ran{0};
    {
      creek::runtime rt(options, GetParam().backend);
      rt.run([&] {
        for (int i = 0; i < 10; ++i) {
          [[maybe_unused]] auto dropped = creek::async([&] { ++ran; });
        }
      });
    }
    EXPECT_EQ(ran, 10) << describe(options) << ": the runtime finishes what was started";
  }
}

TEST_P(Future, CapturesEndWithTheTask) {
  in_each_runtime([] {
    std::atomic<int> alive{0};
    auto future = creek::async([held = counted(alive)] { return 1; });
    auto other = creek::async([] { return 2; });
    EXPECT_EQ(future.get() + other.get(), 3);
    EXPECT_EQ(alive, 0);
  });
}

TEST_P(Future, PromiseIsFulfilledOnce) {
  in_each_runtime([] {
    creek::promise<int> promise;
    auto future = promise.get_future();
    EXPECT_FALSE(future.ready());
    EXPECT_THROW(static_cast<void>(promise.get_future()), creek::usage_error);
    promise.set_value(1);
    EXPECT_TRUE(future.ready());
    EXPECT_THROW(promise.set_value(2), creek::usage_error);
    EXPECT_THROW(promise.set_exception(std::make_exception_ptr(failure{1})), creek::usage_error);
    EXPECT_EQ(future.get(), 1);
  });
}

TEST_P(Future, PromiseCarriesExceptionsAndNothing) {
  in_each_runtime([] {
    creek::promise<int> failing;
    auto future = failing.get_future();
    failing.set_exception(std::make_exception_ptr(failure{7}));
    EXPECT_EQ(failure_of([&] { future.get(); }), 7);
    creek::promise<void> nothing;
    auto done = nothing.get_future();
    nothing.set_value();
    done.get();
  });
}

TEST_P(Future, AbandonedPromiseIsBroken) {
  const auto breaks = [](creek::future<int> future) {
    try {
      future.get();
    } catch (const std::future_error& caught) {
      return caught.code() == std::future_errc::broken_promise;
    }
    return false;
  };
  in_each_runtime([&] {
    creek::future<int> future;
    {
      creek::promise<int> promise;
      future = promise.get_future();
    }
    EXPECT_TRUE(breaks(std::move(future)));
    creek::promise<int> assigned;
    future = assigned.get_future();
    assigned = creek::promise<int>();
    EXPECT_TRUE(breaks(std::move(future)));
  });
}

TEST_P(Future, ReadyFutures) {
  in_each_runtime([] {
    EXPECT_EQ(creek::make_ready_future(5).get(), 5);
    auto nothing = creek::make_ready_future();
    EXPECT_TRUE(nothing.ready());
    nothing.get();
  });
}

TEST_P(Future, SeveralTasksMayWaitForOne) {
  in_each_runtime([] {
    creek::promise<int> promise;
    const auto future = promise.get_future();
    std::atomic<int> saw{0};
    for (int i = 0; i < 10; ++i) {
      creek::spawn([&] {
        future.wait();
        if (future.ready()) ++saw;
      });
    }
    creek::spawn([&] { promise.set_value(1); });
    creek::taskwait();
    EXPECT_EQ(saw, 10);
  });
}

TEST_P(Future, AForeignThreadFulfilsATasksPromise) {
  on_each_runtime([](creek::runtime& rt) {
    creek::promise<int> promise;
    auto future = promise.get_future();
    std::jthread thread([&] { promise.set_value(11); });
    EXPECT_EQ(rt.run([&] { return future.get(); }), 11);
  });
}

TEST_P(Future, AForeignThreadWaitsForATask) {
  on_each_runtime([](creek::runtime& rt) {
    EXPECT_EQ(rt.async([] { return async_fib(8); }).get(), fib_sequential(8));
    EXPECT_EQ(failure_of([&] { rt.async([] { throw failure{5}; }).get(); }), 5);
    creek::promise<int> promise;
    auto future = promise.get_future();
    auto task = rt.async([&] { promise.set_value(12); });
    EXPECT_EQ(future.get(), 12);
    task.get();
  });
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Coroutines that await futures, inside and outside a runtime.
#include <thread>
#include <utility>
#include <vector>

#include "setups.hpp"

namespace {

using namespace conformance;

class Coroutine : public Conformance {};
CONFORMANCE(Coroutine);

creek::future<int> plus_one(creek::future<int> value) {
  co_return co_await std::move(value) + 1;
}

creek::future<long> coroutine_fib(int n) {
  if (n < 2) co_return n;
  auto a = creek::async([n] { return coroutine_fib(n - 1).get(); });
  const long b = co_await coroutine_fib(n - 2);
  co_return co_await std::move(a) + b;
}

creek::future<void> add_to(int& sum, int value) {
  sum += co_await creek::async([value] { return value; });
}

creek::future<int> throws_after(creek::future<void> first, int number) {
  co_await std::move(first);
  throw failure{number};
}

creek::future<int> catches(creek::future<int> failing) {
  try {
    co_return co_await std::move(failing);
  } catch (const failure& caught) {
    co_return -caught.number;
  }
}

TEST_P(Coroutine, AwaitsReadyRunningAndLateFutures) {
  in_each_runtime([] {
    EXPECT_EQ(plus_one(creek::make_ready_future(1)).get(), 2);
    EXPECT_EQ(plus_one(creek::async([] { return 2; })).get(), 3);
    creek::promise<int> promise;
    auto late = plus_one(plus_one(promise.get_future()));
    EXPECT_FALSE(late.ready());
    promise.set_value(10);
    EXPECT_EQ(late.get(), 12);
  });
}

TEST_P(Coroutine, AwaitsNothing) {
  in_each_runtime([] {
    int sum = 0;
    for (int i = 1; i <= 10; ++i) add_to(sum, i).get();
    EXPECT_EQ(sum, 55);
  });
}

TEST_P(Coroutine, CarriesExceptions) {
  in_each_runtime([] {
    EXPECT_EQ(failure_of([] { throws_after(creek::async([] {}), 4).get(); }), 4);
    EXPECT_EQ(catches(creek::async([]() -> int { throw failure{5}; })).get(), -5);
    EXPECT_EQ(catches(throws_after(creek::make_ready_future(), 6)).get(), -6);
  });
}

TEST_P(Coroutine, NestsOverManyTasks) {
  in_each_runtime([] { EXPECT_EQ(coroutine_fib(10).get(), fib_sequential(10)); });
}

/// Records at its destruction whether `result` was ready by then.
class ready_at_end {
 public:
  ready_at_end(const creek::future<int>& result, bool& noted) : result_(&result), noted_(&noted) {}
  ready_at_end(ready_at_end&& other) noexcept
      : result_(std::exchange(other.result_, nullptr)), noted_(other.noted_) {}
  ready_at_end& operator=(ready_at_end&&) = delete;
  ~ready_at_end() {
    if (result_ != nullptr && result_->ready()) *noted_ = true;
  }

 private:
  const creek::future<int>* result_;
  bool* noted_;
};

creek::future<int> with_argument(creek::future<int> gate, ready_at_end) {
  co_return co_await std::move(gate);
}
creek::future<int> with_local(creek::future<int> gate, const creek::future<int>& result,
                              bool& noted) {
  const ready_at_end local(result, noted);
  co_return co_await std::move(gate);
}

TEST_P(Coroutine, EndsItsLocalsAndArgumentsBeforeItsFutureIsReady) {
  in_each_runtime([] {
    bool ready_too_early = false;
    for (const bool local : {false, true}) {
      creek::promise<int> gate;
      creek::future<int> result;
      result = local ? with_local(gate.get_future(), result, ready_too_early)
                     : with_argument(gate.get_future(), ready_at_end(result, ready_too_early));
      gate.set_value(7);
      result.wait();
      EXPECT_FALSE(ready_too_early) << (local ? "local" : "argument");
      EXPECT_EQ(result.get(), 7);
    }
  });
}

TEST_P(Coroutine, AwaitsInALoop) {
  const auto sum = [](int n) -> creek::future<int> {
    int total = 0;
    for (int i = 0; i < n; ++i) total += co_await creek::async([i] { return i; });
    co_return total;
  };
  in_each_runtime([&] { EXPECT_EQ(sum(100).get(), 4950); });
}

TEST_P(Coroutine, ContinuesInItsRuntime) {
  const auto where = [](creek::future<void> gate) -> creek::future<int> {
    co_await std::move(gate);
    co_return creek::this_worker();
  };
  on_each_runtime([&](creek::runtime& rt) {
    creek::promise<void> promise;
    auto future = rt.run([&] { return where(promise.get_future()); });
    std::jthread([&] { promise.set_value(); }).join();
    const int worker = future.get();
    EXPECT_GE(worker, 0);
    EXPECT_LT(worker, static_cast<int>(rt.worker_count()));
  });
}

TEST_P(Coroutine, OutsideARuntimeContinuesWhereThePromiseIsSet) {
  creek::promise<int> promise;
  auto future = plus_one(promise.get_future());
  std::jthread([&] { promise.set_value(1); }).join();
  EXPECT_EQ(future.get(), 2);
}

}  // namespace

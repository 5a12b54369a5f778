// SPDX-License-Identifier: Apache-2.0
// Waits for futures that a deadline or a stop request ends. Replay random deadlines:
// CREEK_TEST_SEED.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <future>
#include <numeric>
#include <optional>
#include <random>
#include <stop_token>
#include <thread>
#include <tuple>
#include <vector>

#include <creek/scc.hpp>

#include "setups.hpp"
#include "support/seed.hpp"

namespace {

using namespace conformance;
using namespace std::chrono_literals;
using std::future_status;
using std::chrono::steady_clock;

class LimitedWait : public Conformance {};
CONFORMANCE(LimitedWait);

/// Returns the time of the caller: virtual on the simulated chip.
std::chrono::nanoseconds now() {
  if (const auto simulated = creek::scc_backend::simulated_now())
    return std::chrono::nanoseconds{simulated->femtoseconds / 1'000'000};
  return steady_clock::now().time_since_epoch();
}

TEST_P(LimitedWait, ReturnsAtOnceIfReady) {
  in_each_runtime([] {
    auto ready = creek::make_ready_future(7);
    EXPECT_EQ(ready.wait_for(0s), future_status::ready);
    EXPECT_EQ(ready.wait_for(std::chrono::hours::max()), future_status::ready);
    std::stop_source source;
    EXPECT_TRUE(ready.wait(source.get_token()));
    source.request_stop();
    EXPECT_TRUE(ready.wait(source.get_token())) << "the result comes first";
    EXPECT_EQ(ready.get(source.get_token()), 7);
    EXPECT_FALSE(ready.valid());
    EXPECT_THROW((void)ready.wait_for(1ms), creek::usage_error);
    EXPECT_THROW((void)ready.wait(source.get_token()), creek::usage_error);
    EXPECT_THROW(ready.get(source.get_token()), creek::usage_error);
  });
}

TEST_P(LimitedWait, OnlyLooksWithoutASpan) {
  in_each_runtime([] {
    creek::promise<int> promise;
    auto future = promise.get_future();
    EXPECT_EQ(future.wait_for(0s), future_status::timeout);
    EXPECT_EQ(future.wait_for(std::chrono::hours::min()), future_status::timeout);
    EXPECT_EQ(future.wait_for(std::chrono::duration<double>(-0.5)), future_status::timeout);
    promise.set_value(1);
    EXPECT_EQ(future.wait_for(0s), future_status::ready);
  });
}

TEST_P(LimitedWait, TimesOutAndIsFulfilledLater) {
  in_each_runtime([&] {
    creek::promise<int> promise;
    auto future = promise.get_future();
    for (const auto span : {1ns, std::chrono::nanoseconds(300us)}) {
      const auto begun = now();
      EXPECT_EQ(future.wait_for(span), future_status::timeout);
      EXPECT_GE(now() - begun, span);
      if (is_simulated()) {
        EXPECT_LT(now() - begun, span + 100us) << "a look at every other core";
      }
    }
    EXPECT_EQ(future.wait_for(std::chrono::duration<double, std::micro>(0.5)),
              future_status::timeout);
    EXPECT_TRUE(future.valid());
    promise.set_value(5);
    EXPECT_EQ(future.wait_for(1ms), future_status::ready);
    EXPECT_EQ(future.get(), 5);
  });
}

TEST_P(LimitedWait, IsOverWhenTheTaskEnds) {
  in_each_runtime([] {
    auto task = creek::async([] { return creek::async([] { return 4; }).get() + 1; });
    EXPECT_EQ(task.wait_for(std::chrono::hours(2)), future_status::ready);
    EXPECT_EQ(task.get(), 5);
    auto failing = creek::async([]() -> int { throw failure{3}; });
    EXPECT_EQ(failing.wait_for(std::chrono::hours::max()), future_status::ready);
    EXPECT_EQ(failure_of([&] { failing.get(std::stop_token{}); }), 3);
    auto stoppable = creek::async([] { return 6; });
    EXPECT_EQ(stoppable.get(std::stop_source{}.get_token()), 6);
  });
}

TEST_P(LimitedWait, LeavesTheWorkerToOthers) {
  in_each_runtime([] {
    creek::promise<int> promise;
    auto future = promise.get_future();
    bool ran = false;
    creek::spawn([&] {
      ran = true;
      promise.set_value(1);
    });
    EXPECT_EQ(future.wait_for(std::chrono::hours(1)), future_status::ready);
    EXPECT_TRUE(ran);
    creek::taskwait();
  });
}

/// The task would end only after the wait that it would be part of.
TEST_P(LimitedWait, DoesNotRunTheTaskOnTheStackOfTheWait) {
  if (is_simulated()) return;  // a task that spins keeps virtual time from passing
  in_each_runtime([&] {
    std::atomic<bool> is_over{false};
    auto task = creek::async([&] {
      creek::promise<void> never;
      auto future = never.get_future();
      while (!is_over) EXPECT_EQ(future.wait_for(100us), future_status::timeout);
      never.set_value();
    });
    EXPECT_EQ(task.wait_for(1ms), future_status::timeout);
    is_over = true;
    task.get();
    is_over = false;
    std::stop_source source;
    auto stopped = creek::async([&] {
      source.request_stop();
      creek::promise<void> never;
      auto future = never.get_future();
      while (!is_over) EXPECT_EQ(future.wait_for(100us), future_status::timeout);
      never.set_value();
    });
    EXPECT_FALSE(stopped.wait(source.get_token()));
    is_over = true;
    stopped.get();
  });
}

TEST_P(LimitedWait, TakesTimePoints) {
  in_each_runtime([&] {
    creek::promise<int> promise;
    auto future = promise.get_future();
    if (is_simulated()) {
      EXPECT_THROW((void)future.wait_until(steady_clock::now()), creek::usage_error);
      promise.set_value(1);
      return;
    }
    EXPECT_EQ(future.wait_until(steady_clock::time_point::min()), future_status::timeout);
    const auto deadline = std::chrono::system_clock::now() + 2ms;
    EXPECT_EQ(future.wait_until(deadline), future_status::timeout);
    EXPECT_GE(std::chrono::system_clock::now(), deadline);
    EXPECT_EQ(future.wait_until(steady_clock::now() + 1ms), future_status::timeout);
    promise.set_value(1);
    EXPECT_EQ(future.wait_until(steady_clock::time_point::max()), future_status::ready);
    EXPECT_EQ(future.wait_until(steady_clock::time_point::min()), future_status::ready);
  });
}

TEST_P(LimitedWait, IsStoppedBeforeIt) {
  in_each_runtime([] {
    std::stop_source source;
    source.request_stop();
    creek::promise<int> promise;
    auto future = promise.get_future();
    EXPECT_FALSE(future.wait(source.get_token()));
    EXPECT_THROW(future.get(source.get_token()), creek::cancelled);
    EXPECT_TRUE(future.valid());
    promise.set_value(8);
    EXPECT_EQ(future.get(source.get_token()), 8);
  });
}

TEST_P(LimitedWait, IsStoppedByATask) {
  in_each_runtime([] {
    for (int i = 0; i < 20; ++i) {
      std::stop_source source;
      creek::promise<int> promise;
      auto future = promise.get_future();
      creek::spawn([&] { source.request_stop(); });
      EXPECT_THROW(future.get(source.get_token()), creek::cancelled);
      EXPECT_TRUE(future.valid());
      EXPECT_FALSE(future.ready());
      creek::taskwait();
      creek::spawn([&] { promise.set_value(i); });
      EXPECT_EQ(future.get(std::stop_source{}.get_token()), i);
      creek::taskwait();
    }
  });
}

TEST_P(LimitedWait, IsStoppedByAnotherThread) {
  in_each_runtime([] {
    std::stop_source source;
    creek::promise<int> promise;
    auto future = promise.get_future();
    std::thread stopper([&] { source.request_stop(); });
    EXPECT_THROW(future.get(source.get_token()), creek::cancelled);
    stopper.join();
    std::thread device([&] { promise.set_value(2); });
    EXPECT_EQ(future.get(std::stop_source{}.get_token()), 2);
    device.join();
  });
}

TEST_P(LimitedWait, BlocksForeignThreads) {
  on_each_runtime([&](creek::runtime& rt) {
    creek::promise<int> gate;
    auto task = rt.async([opened = gate.get_future()]() mutable { return opened.get(); });
    // On the simulated chip longer than a look for deadlocks takes: this thread will go on.
    const auto span = is_simulated() ? 50ms : 1ms;
    auto begun = steady_clock::now();
    EXPECT_EQ(task.wait_for(span), future_status::timeout);
    EXPECT_GE(steady_clock::now() - begun, span);
    begun = steady_clock::now();
    EXPECT_EQ(task.wait_until(begun + 1ms), future_status::timeout);
    EXPECT_GE(steady_clock::now() - begun, 1ms);
    std::stop_source source;
    std::thread stopper([&] { source.request_stop(); });
    EXPECT_THROW(task.get(source.get_token()), creek::cancelled);
    stopper.join();
    gate.set_value(9);
    EXPECT_EQ(task.wait_for(std::chrono::hours::max()), future_status::ready);
    EXPECT_EQ(task.get(std::stop_source{}.get_token()), 9);
  });
}

TEST_P(LimitedWait, MayBeOutlivedByTheFuture) {
  on_each_runtime([](creek::runtime& rt) {
    creek::promise<int> promise;
    auto future = promise.get_future();
    {
      creek::runtime ending(std::move(rt));
      ending.run([&] {
        EXPECT_EQ(future.wait_for(10us), future_status::timeout);
        std::stop_source source;
        creek::spawn([&] { source.request_stop(); });
        EXPECT_FALSE(future.wait(source.get_token()));
        creek::taskwait();
      });
    }
    promise.set_value(3);
    EXPECT_EQ(future.get(), 3);
  });
}

/// The listener of when_any stays in the list while another comes and goes.
TEST_P(LimitedWait, LeavesOtherListenersWhereTheyAre) {
  in_each_runtime([] {
    std::vector<creek::promise<int>> promises(3);
    std::vector<creek::future<int>> futures;
    for (auto& each : promises) futures.push_back(each.get_future());
    auto first = creek::when_any(std::move(futures));
    EXPECT_EQ(first.wait_for(10us), future_status::timeout);
    promises[1].set_value(1);
    ASSERT_EQ(first.wait_for(std::chrono::hours(1)), future_status::ready);
    auto rest = first.get();
    EXPECT_EQ(rest.index, 1U);
    EXPECT_EQ(rest.futures[0].wait_for(10us), future_status::timeout);
    auto both = creek::when_all(std::move(rest.futures[0]), std::move(rest.futures[2]));
    EXPECT_EQ(both.wait_for(10us), future_status::timeout);
    promises[0].set_value(10);
    promises[2].set_value(12);
    EXPECT_EQ(both.get(), (std::tuple{10, 12}));
  });
}

/// Two threads wait for one future at once: neither takes the other's listener off for good.
TEST_P(LimitedWait, MayHaveCompany) {
  on_each_runtime([](creek::runtime& rt) {
    creek::promise<int> promise;
    auto future = promise.get_future();
    std::atomic<int> timeouts{0};
    const auto wait = [&] {
      while (future.wait_for(20us) == future_status::timeout) ++timeouts;
    };
    std::thread first(wait), second(wait);
    rt.run([&] {
      for (int i = 0; i < 3; ++i) creek::spawn(wait);
      // On one worker this task would not come back, as others find it busy.
      creek::spawn([&] {
        auto never = creek::promise<int>();
        auto unready = never.get_future();
        while (timeouts < 100) (void)unready.wait_for(5us);
        promise.set_value(1);
      });
      creek::taskwait();
    });
    first.join();
    second.join();
    EXPECT_EQ(future.get(), 1);
  });
}

/// Strands with deadlines and stop requests at random, while others fulfil what they wait for.
TEST_P(LimitedWait, RandomDeadlines) {
  std::uint64_t seed = creek::support::chosen_seed();
  std::printf("CREEK_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  in_each_runtime([&] {
    std::mt19937_64 random(seed++);
    const auto up_to = [&](std::uint64_t most) { return random() % (most + 1); };
    struct pair {
      creek::promise<std::size_t> promise;
      creek::future<std::size_t> future = promise.get_future();
      std::stop_source source;
      std::uint64_t deadline_us = 0, pause_us = 0;
      bool may_stop = false;
    };
    std::vector<pair> pairs(is_simulated() ? 24 : 64);
    for (pair& each : pairs) {
      each.deadline_us = 1 + up_to(200);
      each.pause_us = up_to(300);
      each.may_stop = up_to(1) == 0;
    }
    std::vector<std::size_t> order(pairs.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::atomic<std::size_t> got{0}, cancelled{0};
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      creek::spawn([&, i] {
        pair& mine = pairs[i];
        bool stops = mine.may_stop;
        for (int round = 0;; ++round) {
          if (stops && round % 2 == 1) {
            if (mine.future.wait(mine.source.get_token())) break;
            ++cancelled;
            stops = false;
          } else if (mine.future.wait_for(std::chrono::microseconds(mine.deadline_us)) ==
                     future_status::ready) {
            break;
          }
        }
        EXPECT_EQ(mine.future.get(), i);
        ++got;
      });
      creek::spawn([&, i] {
        pair& other = pairs[order[i]];
        creek::promise<int> never;
        auto pause = never.get_future();
        (void)pause.wait_for(std::chrono::microseconds(other.pause_us));
        if (other.may_stop) other.source.request_stop();
        (void)pause.wait_for(std::chrono::microseconds(other.pause_us / 4));
        other.promise.set_value(order[i]);
        never.set_value(0);
      });
    }
    creek::taskwait();
    EXPECT_EQ(got, pairs.size());
  });
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// run(): from any thread and nested; and each misuse with its message.
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "setups.hpp"
#include "support/process_facts.hpp"

namespace {

using namespace conformance;

class Runtime : public Conformance {
 protected:
  /// Calls `body(setup)` for the runtimes that may live inside the one under test.
  template <class Body>
  static void with_each_inner(Body body) {
    for (const setup& inner_setup : setups()) {
      if (inner_setup.workers == 4) continue;
      SCOPED_TRACE(testing::PrintToString(inner_setup));
      body(inner_setup);
    }
  }
};
CONFORMANCE(Runtime);

TEST_P(Runtime, RunGivesResultsOfEveryKind) {
  on_each_runtime([](creek::runtime& rt) {
    EXPECT_EQ(rt.run([] { return 1; }), 1);
    EXPECT_EQ(*rt.run([] { return std::make_unique<int>(2); }), 2);
    int x = 3;
    auto copy = rt.run([&]() -> int& { return x; });
    static_assert(std::is_same_v<decltype(copy), int>);
    EXPECT_EQ(copy, 3);
    rt.run([&] { x = 4; });
    EXPECT_EQ(x, 4);
    EXPECT_EQ(failure_of([&] { rt.run([] { throw failure{5}; }); }), 5);
  });
}

TEST_P(Runtime, RunInsideItselfIsACall) {
  on_each_runtime([](creek::runtime& rt) {
    EXPECT_EQ(rt.run([&] {
      return 1 + rt.run([&] {
        return creek::fork_join([&] { return rt.run([] { return 2; }); }, [] { return 3; }).second;
      });
    }),
              4);
  });
}

TEST_P(Runtime, ManyThreadsRunAtOnce) {
  on_each_runtime([](creek::runtime& rt) {
    std::atomic<int> right{0};
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
          for (int round = 0; round < 5; ++round) {
            if (rt.run([=] { return fib(8 + t); }) == fib_sequential(8 + t)) ++right;
          }
        });
      }
    }
    EXPECT_EQ(right, 20);
  });
}

/// Another runtime, used from tasks of the first: every backend from every backend.
TEST_P(Runtime, NestsBothWays) {
  with_each_inner([&](const setup& inner_setup) {
    creek::runtime outer({.workers = GetParam().workers}, GetParam().backend);
    creek::runtime inner({.workers = inner_setup.workers}, inner_setup.backend);
    std::atomic<int> right{0};
    const auto inside = [&] {
      if (inner.run([] { return fib(9); }) == fib_sequential(9)) ++right;
      // And back: the outer runtime waits for the inner one, which waits for the outer one.
      if (inner.run([&] { return outer.run([] { return fib(7); }); }) == fib_sequential(7)) ++right;
    };
    outer.run([&] {
      for (int i = 0; i < 6; ++i) creek::spawn(inside);
      creek::fork_join(inside, inside);
      creek::taskwait();
      EXPECT_GE(creek::this_worker(), 0);
      EXPECT_EQ(creek::worker_count(), outer.worker_count());
    });
    EXPECT_EQ(right, 16);
  });
}

TEST_P(Runtime, RunsTasksWhileThoseOfAnotherWaitForThem) {
  with_each_inner([&](const setup& inner_setup) {
    creek::runtime outer({.workers = GetParam().workers}, GetParam().backend);
    creek::runtime inner({.workers = inner_setup.workers}, inner_setup.backend);
    for (int round = 0; round < 3; ++round) {
      std::vector<creek::promise<int>> awaited(round == 0 ? 1 : 6);
      std::vector<creek::future<int>> waiting;
      for (auto& each : awaited) {
        waiting.push_back(outer.async([&each] { return each.get_future().get(); }));
      }
      // The harder case: all workers have gone to sleep.
      creek::support::let_others_sleep();
      inner.run([&] {
        for (auto& each : awaited) each.set_value(1);
      });
      for (auto& each : waiting) EXPECT_EQ(each.get(), 1);
    }
  });
}

TEST_P(Runtime, EndsInATaskOfAnotherWithWorkOutstanding) {
  with_each_inner([&](const setup& inner_setup) {
    creek::runtime outer({.workers = GetParam().workers}, GetParam().backend);
    std::atomic<int> done{0};
    outer.run([&] {
      creek::support::let_others_sleep();
      creek::runtime inner({.workers = inner_setup.workers}, inner_setup.backend);
      for (int i = 0; i < 3; ++i) (void)inner.async([&] { ++done; });
    });
    EXPECT_EQ(done, 3);
  });
}

/// Work is found even though workers are busy with tasks that wait by polling.
TEST_P(Runtime, RunsTasksWhileThoseOfAnotherPollForThem) {
  with_each_inner([&](const setup& inner_setup) {
    creek::runtime outer({.workers = GetParam().workers}, GetParam().backend);
    creek::runtime inner({.workers = inner_setup.workers}, inner_setup.backend);
    std::atomic<bool> done{false};
    std::atomic<unsigned> polling{0};
    std::vector<creek::future<void>> polls;
    // Simulated cores share a thread, which a polling core does not yield.
    const unsigned pollers = is_simulated() ? 1 : GetParam().workers;
    for (unsigned i = 0; i < pollers; ++i) {
      polls.push_back(outer.async([&] {
        ++polling;
        while (!done) std::this_thread::yield();
      }));
    }
    while (polling < pollers) std::this_thread::yield();
    inner.run([&] { done = true; });
    for (auto& each : polls) each.get();
  });
}

TEST_P(Runtime, LivesInATaskOfAnother) {
  with_each_inner([&](const setup& inner_setup) {
    creek::runtime outer({.workers = GetParam().workers}, GetParam().backend);
    outer.run([&] {
      for (int i = 0; i < 3; ++i) {
        creek::spawn([&] {
          creek::runtime inner({.workers = inner_setup.workers}, inner_setup.backend);
          EXPECT_EQ(inner.run([] { return fib(8); }), fib_sequential(8));
        });
      }
      creek::taskwait();
    });
  });
}

TEST_P(Runtime, ExceptionsBeingHandledFollowTheTask) {
  in_each_runtime([] {
    std::atomic<int> right{0};
    creek::promise<void> promise;
    auto gate = promise.get_future();
    for (int i = 0; i < 8; ++i) {
      creek::spawn([&, i] {
        try {
          throw failure{i};
        } catch (...) {
          gate.wait();  // may continue on another thread, after other exceptions
          if (failure_of([] { throw; }) == i && std::uncaught_exceptions() == 0) ++right;
        }
      });
    }
    creek::spawn([&] { promise.set_value(); });
    creek::taskwait();
    EXPECT_EQ(right, 8);
  });
}

TEST_P(Runtime, FinishesWhatWasStarted) {
  for (const creek::scheduler_options& options : variants(GetParam())) {
    std::atomic<int> ran{0};
    std::vector<creek::future<void>> kept;
    {
      creek::runtime rt(options, GetParam().backend);
      for (int i = 0; i < 10; ++i) kept.push_back(rt.async([&] { ++ran; }));
    }
    EXPECT_EQ(ran, 10) << describe(options);
    for (auto& each : kept) EXPECT_TRUE(each.ready());
  }
}

TEST_P(Runtime, ItsTasksMayOutliveTheirWaiterSuspended) {
  for (const creek::scheduler_options& options : variants(GetParam())) {
    creek::promise<void> promise;
    auto gate = promise.get_future();
    std::atomic<bool> passed{false};
    std::jthread opener;
    {
      creek::runtime rt(options, GetParam().backend);
      [[maybe_unused]] auto dropped = rt.async([&] {
        gate.wait();
        passed = true;
      });
      opener = std::jthread([&] { promise.set_value(); });
    }
    EXPECT_TRUE(passed) << describe(options);
  }
}

TEST_P(Runtime, ManyLiveAtOnce) {
  std::vector<std::unique_ptr<creek::runtime>> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(std::make_unique<creek::runtime>(
        creek::scheduler_options{.workers = GetParam().workers}, GetParam().backend));
  }
  for (auto& each : all) EXPECT_EQ(each->run([] { return fib(10); }), fib_sequential(10));
}

TEST_P(Runtime, CountsItsTasks) {
  on_each_runtime([](creek::runtime& rt) {
    rt.run([] {});
    EXPECT_GE(rt.counters()[creek::counter::tasks], 1U);
  });
}

TEST_P(Runtime, SaysWhatItIs) {
  on_each_runtime([&](creek::runtime& rt) {
    EXPECT_EQ(rt.backend_name(), GetParam().backend);
    EXPECT_EQ(rt.options().workers, GetParam().workers);
  });
  creek::runtime by_default({}, GetParam().backend);
  EXPECT_GE(by_default.worker_count(), 1U);
}

TEST_P(Runtime, MovesButIsThenEmpty) {
  creek::runtime rt({.workers = GetParam().workers}, GetParam().backend);
  creek::runtime moved(std::move(rt));
  EXPECT_EQ(moved.run([] { return 1; }), 1);
  EXPECT_THROW(rt.run([] {}), creek::usage_error);  // NOLINT: on purpose
}

TEST_P(Runtime, TooManyWorkersAreMisuse) {
  EXPECT_THROW(creek::runtime({.workers = 100000}, GetParam().backend), creek::usage_error);
  EXPECT_THROW(creek::runtime({}, "no such backend"), creek::usage_error);
}

TEST_P(Runtime, CallsOutsideOneAreMisuse) {
  creek::runtime rt({.workers = GetParam().workers}, GetParam().backend);
  rt.run([] {});  // a live runtime does not put this thread inside
  EXPECT_THROW(creek::spawn([] {}), creek::usage_error);
  EXPECT_THROW(creek::taskwait(), creek::usage_error);
  EXPECT_THROW(creek::taskbarrier(), creek::usage_error);
  EXPECT_THROW(creek::fork_join([] {}, [] {}), creek::usage_error);
  EXPECT_THROW(creek::fork_join([] {}, [] {}, [] {}), creek::usage_error);
  EXPECT_THROW(creek::parallel_invoke([] {}, [] {}), creek::usage_error);
  EXPECT_THROW(static_cast<void>(creek::async([] {})), creek::usage_error);
}

}  // namespace

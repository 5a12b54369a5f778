// SPDX-License-Identifier: Apache-2.0
// Calls to a worker of the host that runs a strand with many tasks: they are handled between two of
// those. Each test has one worker, and the tasks of its strand go on until the call was handled.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <stop_token>
#include <thread>

#include <creek/core/measuring/clock.hpp>
#include <creek/host.hpp>
#include <creek/tasking.hpp>

#include "support/endless_calls.hpp"
#include "support/process_facts.hpp"

namespace {

using namespace std::chrono_literals;
using creek::core_id;

/// Calls an object of worker 0, from a thread outside, while a strand of that worker runs.
class outside_caller {
 public:
  explicit outside_caller(std::function<void()> handler = [] {})
      : object_(creek::make_on<int>(core_id{0}, 0)), thread_([this, handler] {
          while (!may_call_) std::this_thread::yield();
          object_.call([&](int&) {
            handler();
            handled_ = true;
          });
        }) {}
  ~outside_caller() {
    may_call_ = true;
    creek::blocking([&] { thread_.join(); });  // the worker may have to serve it first
  }
  outside_caller(const outside_caller&) = delete;
  outside_caller& operator=(const outside_caller&) = delete;

  void begin() noexcept { may_call_ = true; }
  bool handled() const noexcept { return handled_; }
  /// Returns whether there is nothing left to wait for.
  bool over() const noexcept { return handled_ || std::chrono::steady_clock::now() > give_up_; }

 private:
  const std::chrono::steady_clock::time_point give_up_ = std::chrono::steady_clock::now() + 60s;
  std::atomic<bool> may_call_{false}, handled_{false};
  creek::remote<int> object_;
  std::jthread thread_;
};

/// Forks until the call has been handled, at most 2^depth times.
void fork_until_handled(const outside_caller& caller, int depth) {
  if (depth == 0 || caller.over()) return;
  const auto branch = [&] { fork_until_handled(caller, depth - 1); };
  creek::fork_join(branch, branch);
}

TEST(CallsBetweenTasks, AreHandledInARunOfForks) {
  creek::runtime rt{creek::host{1}};
  rt.run([] {
    outside_caller caller;
    caller.begin();
    fork_until_handled(caller, 60);
    EXPECT_TRUE(caller.handled());
  });
}

TEST(CallsBetweenTasks, AreHandledInALoop) {
  creek::runtime rt{creek::host{1}};
  rt.run([] {
    outside_caller caller;
    caller.begin();
    std::stop_source stop;
    const auto body = [&](long) {
      if (caller.over()) stop.request_stop();
    };
    creek::parallel_for(0L, 1L << 60, body, {.stop = stop.get_token()});
    EXPECT_TRUE(caller.handled());
  });
}

TEST(CallsBetweenTasks, AreHandledInAWaitForManyTasks) {
  static constexpr int tasks = 60'000;
  creek::runtime rt{creek::host{1}};
  rt.run([] {
    outside_caller caller;
    int unserved = 0;
    creek::task_group children;
    for (int i = 0; i < tasks; ++i) {
      children.spawn([&] {
        caller.begin();
        if (caller.over()) return;
        ++unserved;
        creek::spin_for(1ms);
      });
    }
    children.wait();
    EXPECT_TRUE(caller.handled());
    EXPECT_LT(unserved, tasks);
  });
}

TEST(CallsBetweenTasks, DoNotRunInASpawn) {
  creek::runtime rt{creek::host{1}};
  rt.run([] {
    bool spawns = false;
    std::atomic<bool> ran_in_spawn{false};
    outside_caller caller([&] { ran_in_spawn = spawns; });
    caller.begin();
    while (!caller.over()) {
      creek::task_group children;
      spawns = true;
      for (int i = 0; i < 100; ++i) children.spawn([] {});
      spawns = false;
      children.wait();
    }
    EXPECT_TRUE(caller.handled());
    EXPECT_FALSE(ran_in_spawn);
  });
}

TEST(CallsBetweenTasks, DoNotBeginInAnotherCall) {
  creek::runtime rt{creek::host{1}};
  rt.run([] {
    const creek::remote<int> busy = creek::make_on<int>(core_id{0}, 0);
    std::atomic<bool> in_call{false}, begun_in_call{false};
    outside_caller caller([&] { begun_in_call = in_call.load(); });
    busy.call([&](int&) {
      in_call = true;
      caller.begin();
      for (int i = 0; i < 100'000; ++i) creek::fork_join([] {}, [] {});
      in_call = false;
    });
    fork_until_handled(caller, 60);
    EXPECT_TRUE(caller.handled());
    EXPECT_FALSE(begun_in_call);
  });
}

int fibonacci(int n) {
  if (n < 2) return n;
  const auto [a, b] =
      creek::fork_join([n] { return fibonacci(n - 1); }, [n] { return fibonacci(n - 2); });
  return a + b;
}

TEST(CallsBetweenTasks, LetTheStrandGoOnWhileOthersSendWithoutEnd) {
  creek::runtime rt{creek::host{2}};
  rt.run([] {
    const creek::remote<long> object = creek::make_on<long>(core_id{0}, 0);
    std::atomic<bool> ends{false};
    const auto send = [&] {
      while (!ends) object.post([](long& calls) { ++calls; });
    };
    std::jthread outside(send);
    creek::future<void> inside = creek::async_on(core_id{1}, send);
    constexpr int n = creek::support::under_sanitizer ? 12 : 20, expected = n == 12 ? 144 : 6765;
    EXPECT_EQ(creek::call_on(core_id{0}, [] { return fibonacci(n); }), expected);
    EXPECT_EQ(fibonacci(n), expected);
    ends = true;
    inside.get();
    creek::blocking([&] { outside.join(); });  // it may wait for room
  });
}

TEST(CallsBetweenTasks, LetAWorkerTakeAStrandThatACallKeepsFromGoingOn) {
  creek::runtime rt{creek::host{2}};
  rt.run([] {
    std::atomic<bool> is_stolen{false}, is_kept{false}, ends{false};
    creek::support::endless_calls calls(core_id{0}, 10'000'000);
    creek::future<void> keeper;
    // Worker 1 takes the second branch, and leaves it between two tasks for a call without end.
    creek::fork_join(
        [&] {
          while (!is_stolen) creek::fork_join([] {}, [] {});
          keeper = creek::async_on(core_id{1}, [&] {
            is_kept = true;
            while (!ends && !calls.gave_up()) std::this_thread::yield();
          });
        },
        [&] {
          is_stolen = true;
          while (!is_kept) creek::fork_join([] {}, [] {});
        });
    EXPECT_FALSE(calls.gave_up());
    ends = true;
    keeper.get();
  });
}

TEST(CallsBetweenTasks, MayLeaveTasksThatOthersTakeWhileTheirStrandYields) {
  static constexpr int calls = 5'000, tasks_each = 3;
  creek::runtime rt{creek::host{3}};
  rt.run([] {
    creek::support::endless_calls kept_busy(core_id{0}, 100'000'000),
        busy_too(core_id{1}, 100'000'000);
    std::atomic<int> tasks{0};
    const creek::remote<int> object = creek::make_on<int>(core_id{0}, 0);
    for (int i = 0; i < calls; ++i) {
      object.post([&](int&) {
        for (int each = 0; each < tasks_each; ++each) (void)creek::async([&] { ++tasks; });
      });
      if (i % 16 == 0) object.call([](int&) {});
    }
    while (tasks < calls * tasks_each && !kept_busy.gave_up()) creek::async([] {}).get();
    EXPECT_FALSE(kept_busy.gave_up());
    EXPECT_EQ(tasks, calls * tasks_each);
  });
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Tasks with priorities do what others do, on every backend; on host they begin in their order.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <semaphore>
#include <thread>
#include <vector>

#include "setups.hpp"

namespace {

using namespace conformance;
using creek::priority;

constexpr std::array every_priority{priority::low, priority::high, priority::normal};

class Priority : public Conformance {};
CONFORMANCE(Priority);

TEST_P(Priority, SpawnsChildrenAndTheirChildren) {
  in_each_runtime([] {
    std::atomic<int> ran{0}, alive{0};
    for (int i = 0; i < 30; ++i) {
      creek::spawn(every_priority[i % 3], [&ran, i, held = counted(alive)] {
        creek::spawn(every_priority[i / 3 % 3], [&ran] { ++ran; });
        creek::taskwait();
        ++ran;
      });
    }
    creek::taskwait();
    EXPECT_EQ(ran, 60);
    EXPECT_EQ(alive, 0);
  });
}

TEST_P(Priority, ReturnsResultsAndExceptions) {
  on_each_runtime([](creek::runtime& rt) {
    for (const priority level : every_priority) {
      auto from_outside = rt.async(
          level, [](int x) { return x + 1; }, 41);
      EXPECT_EQ(from_outside.get(), 42);
      rt.run([&] {
        EXPECT_EQ(creek::async(
                      level, [](int x) { return 2 * x; }, 21)
                      .get(),
                  42);
        auto fails = creek::async(level, [] { throw failure{5}; });
        EXPECT_EQ(failure_of([&] { fails.get(); }), 5);
        creek::spawn(level, [] { throw failure{6}; });
        EXPECT_EQ(failure_of([] { creek::taskwait(); }), 6);
        creek::task_group group;
        group.spawn(level, [] { throw failure{7}; });
        EXPECT_EQ(failure_of([&] { group.wait(); }), 7);
      });
    }
  });
}

TEST_P(Priority, SkipsTasksOfACancelledGroup) {
  in_each_runtime([] {
    creek::task_group group;
    group.cancel();
    std::atomic<int> ran{0}, alive{0};
    for (const priority level : every_priority) {
      group.spawn(level, [&ran, held = counted(alive)] { ++ran; });
    }
    group.wait();
    EXPECT_EQ(ran, 0);
    EXPECT_EQ(alive, 0);
  });
}

/// Adds tasks while the only worker is kept busy; returns their numbers in the order in which they
/// began.
template <class Add>
std::vector<int> order_on_one_worker(Add add) {
  creek::runtime rt(creek::scheduler_options{.workers = 1});
  std::vector<int> began;
  std::binary_semaphore held{0}, goes_on{0};
  auto holder = rt.async([&] {
    held.release();
    goes_on.acquire();
  });
  held.acquire();
  std::vector<creek::future<void>> all;
  add([&](priority level, int number) {
    all.push_back(rt.async(level, [&began, number] { began.push_back(number); }));
  });
  goes_on.release();
  holder.get();
  for (auto& each : all) each.wait();
  return began;
}

TEST(PriorityOrder, BeginsUrgentTasksFirst) {
  constexpr int each = 8;
  const std::vector<int> began = order_on_one_worker([](auto add) {
    for (int i = 0; i < each; ++i) {
      for (const priority level : every_priority) add(level, 1 - static_cast<int>(level));
    }
  });
  ASSERT_EQ(began.size(), 3U * each);
  // Every 32nd choice may go to another priority.
  int out_of_place = 0;
  for (std::size_t i = 0; i < began.size(); ++i)
    out_of_place += began[i] != static_cast<int>(i) / each;
  EXPECT_LE(out_of_place, 3);
}

TEST(PriorityOrder, KeepsTheOrderOfEachPriority) {
  for (const priority level : {priority::high, priority::low}) {
    const std::vector<int> began = order_on_one_worker([&](auto add) {
      for (int i = 0; i < 100; ++i) add(level, i);
    });
    ASSERT_EQ(began.size(), 100U);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(began[static_cast<std::size_t>(i)], i);
  }
}

TEST(PriorityOrder, PutsNoTaskOffForEver) {
  const std::vector<int> began = order_on_one_worker([](auto add) {
    add(priority::low, -1);
    add(priority::normal, -2);
    for (int i = 0; i < 500; ++i) add(priority::high, i);
  });
  ASSERT_EQ(began.size(), 502U);
  const auto place = [&](int number) {
    return std::find(began.begin(), began.end(), number) - began.begin();
  };
  EXPECT_LT(place(-1), 200);
  EXPECT_LT(place(-2), 200);
}

/// Tasks that were left behind on the worker's own stack are not put off either.
TEST(PriorityOrder, LetsTasksOfOneWorkerGoOnBesideUrgentOnes) {
  creek::runtime rt(creek::scheduler_options{.workers = 1});
  std::atomic<bool> ends{false};
  std::atomic<int> urgent{0};
  std::function<void()> again = [&] {
    ++urgent;
    if (!ends) creek::spawn(priority::high, [&] { again(); });
  };
  rt.run([&] {
    creek::spawn(priority::high, [&] {
      creek::spawn([&] { ends = true; });  // left behind by a task that ends
      again();
    });
  });
  EXPECT_TRUE(ends);
  EXPECT_LT(urgent, 100);
}

/// A flood of urgent tasks hides neither tasks that wait to be stolen nor strands that go on.
TEST(PriorityOrder, LetsWaitingStrandsGoOnBesideUrgentTasks) {
  creek::runtime rt(creek::scheduler_options{.workers = 1});
  std::atomic<bool> ends{false};
  std::function<void()> again = [&] {
    if (ends) return;
    creek::spawn([] {});  // left behind on the worker's stack
    creek::spawn(priority::high, [&] { again(); });
  };
  rt.run([&] {
    creek::promise<void> from_child, from_outside;
    auto child_ran = from_child.get_future(), came = from_outside.get_future();
    creek::spawn([&] { from_child.set_value(); });  // left to thieves while this strand waits
    creek::spawn(priority::high, [&] { again(); });
    child_ran.get();
    std::jthread outside([&] { from_outside.set_value(); });
    came.get();
    ends = true;
  });
  EXPECT_TRUE(ends);
}

TEST(PriorityOrder, SharesNormalWorkBeforeItBeginsTasksOfLowPriority) {
  using clock = std::chrono::steady_clock;
  const auto compute = [] {
    for (const auto end = clock::now() + std::chrono::milliseconds(1); clock::now() < end;) {
    }
  };
  std::atomic<bool> over{false};
  creek::runtime rt(creek::scheduler_options{.workers = 2});
  for (int i = 0; i < 2000; ++i) {
    rt.async(priority::low, [&] {
        if (!over) compute();
      }).detach();
  }
  std::array<std::atomic<int>, 2> pieces{};
  rt.run([&] {
    creek::parallel_for(0, 400, [&](int) {  // long enough for a worker that is preempted
      compute();
      ++pieces.at(static_cast<std::size_t>(creek::this_worker()));
    });
  });
  over = true;
  EXPECT_GE(pieces[0], 4);
  EXPECT_GE(pieces[1], 4);
}

}  // namespace

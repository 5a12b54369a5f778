// SPDX-License-Identifier: Apache-2.0
// The calls that ParlayLib makes to its scheduler, without ParlayLib. The test runs with
// PARLAY_NUM_THREADS=3.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <creek/host.hpp>
#include <creek/tasking/parlay.hpp>

namespace creek::support {
namespace {

/// Its destructor runs after that of the runtime, which is made by the first call.
struct used_at_exit {
  ~used_at_exit() {
    std::size_t sum = 0;
    parlay::parallel_for(0, 100, [&](std::size_t i) { sum += i; });
    parlay::par_do([&] { ++sum; }, [&] { ++sum; });
    if (sum != 4952 || parlay::num_workers() != 1 || parlay::worker_id() != 0) std::abort();
  }
} const at_exit;

long fib(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  parlay::par_do([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}

/// Sorts by merging, as ParlayLib's examples do: forks, and loops in them.
void sort(std::vector<int>& data, std::size_t from, std::size_t to) {
  if (to - from < 100) {
    std::sort(data.begin() + static_cast<std::ptrdiff_t>(from),
              data.begin() + static_cast<std::ptrdiff_t>(to));
    return;
  }
  const std::size_t middle = from + (to - from) / 2;
  parlay::par_do([&] { sort(data, from, middle); }, [&] { sort(data, middle, to); });
  std::vector<int> merged(to - from);
  std::merge(&data[from], &data[middle], &data[middle], &data[0] + to, merged.begin());
  parlay::parallel_for(0, merged.size(), [&](std::size_t i) { data[from + i] = merged[i]; });
}

/// Returns whether a loop over [start, end) calls each index once.
bool calls_each_once(std::size_t start, std::size_t end, long granularity) {
  std::vector<std::atomic<int>> calls(end);
  parlay::parallel_for(
      start, end, [&](std::size_t i) { ++calls.at(i); }, granularity);
  for (std::size_t i = 0; i < end; ++i) {
    if (calls[i] != (i < start ? 0 : 1)) return false;
  }
  return true;
}

/// Marks of the workers that are in a body without forks: two with one number meet in one of them.
class one_at_a_time {
 public:
  void visit() {
    const std::size_t worker = parlay::worker_id();
    if (worker >= parlay::num_workers() || visited_.at(worker).exchange(true)) ++faults;
    if (worker != parlay::worker_id()) ++faults;
    visited_.at(worker) = false;
  }
  std::atomic<int> faults{0};

 private:
  std::array<std::atomic<bool>, 16> visited_{};
};

TEST(parlay, has_as_many_workers_as_the_variable_says) {
  EXPECT_EQ(parlay::num_workers(), 3U);
  EXPECT_EQ(parlay::worker_id(), 0U);
  std::size_t inside = 0;
  parlay::par_do([&] { inside = parlay::num_workers(); }, [] {});
  EXPECT_EQ(inside, 3U);
}

TEST(parlay, refuses_a_number_of_workers_that_is_none) {
  // The child begins the test anew, before anything has made the runtime.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto asked_for = [](const char* workers) {
    setenv("PARLAY_NUM_THREADS", workers, 1);
    try {
      parlay::parallel_for(0, 10, [](std::size_t) {});
    } catch (const usage_error& refused) {
      std::fputs(refused.what(), stderr);
      std::_Exit(3);
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(asked_for("many"), testing::ExitedWithCode(3), "between 1 and 4096, got many");
  EXPECT_EXIT(asked_for("0"), testing::ExitedWithCode(3), "got 0");
  EXPECT_EXIT(asked_for("2,3"), testing::ExitedWithCode(3), "got 2,3");
  EXPECT_EXIT(asked_for("2"), testing::ExitedWithCode(0), "");
}

TEST(parlay, loops_call_each_index_once) {
  for (const long granularity : {0L, 1L, 7L, 1000L, 1L << 40, -1L}) {
    EXPECT_TRUE(calls_each_once(0, 10'000, granularity)) << granularity;
    EXPECT_TRUE(calls_each_once(9'000, 10'001, granularity)) << granularity;
    EXPECT_TRUE(calls_each_once(5, 6, granularity)) << granularity;
    EXPECT_TRUE(calls_each_once(5, 5, granularity)) << granularity;
  }
  bool was_called = false;
  parlay::parallel_for(6, 5, [&](std::size_t) { was_called = true; });
  EXPECT_FALSE(was_called);
}

TEST(parlay, runs_a_loop_below_the_granularity_in_order_in_the_caller) {
  std::vector<std::size_t> order;
  const auto caller = std::this_thread::get_id();
  parlay::parallel_for(
      10, 20,
      [&](std::size_t i) {
        if (std::this_thread::get_id() == caller) order.push_back(i);
      },
      10);
  std::vector<std::size_t> expected(10);
  std::iota(expected.begin(), expected.end(), 10U);
  EXPECT_EQ(order, expected);
}

TEST(parlay, nests_forks_and_loops) {
  EXPECT_EQ(fib(18), 2584);
  std::vector<int> data(20'000);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int>(i * 7919 % 20'011);
  auto expected = data;
  std::sort(expected.begin(), expected.end());
  sort(data, 0, data.size());
  EXPECT_EQ(data, expected);
  std::atomic<long> sum{0};
  parlay::parallel_for(0, 50, [&](std::size_t i) {
    parlay::parallel_for(
        0, i, [&](std::size_t j) { sum += static_cast<long>(j); }, 1);
  });
  EXPECT_EQ(sum, 19'600);
}

TEST(parlay, calls_branches_as_they_were_given) {
  struct once {
    std::unique_ptr<int> value;
    int* result;
    int operator()() && { return *result = *value; }
  };
  int left = 0, right = 0;
  parlay::par_do(once{std::make_unique<int>(1), &left}, once{std::make_unique<int>(2), &right},
                 true);
  EXPECT_EQ(left, 1);
  EXPECT_EQ(right, 2);
}

TEST(parlay, passes_exceptions_on) {
  for (const long granularity : {0L, 1L, 1000L}) {
    EXPECT_THROW(parlay::parallel_for(
                     0, 1000,
                     [](std::size_t i) {
                       if (i == 500) throw std::out_of_range("500");
                     },
                     granularity),
                 std::out_of_range);
  }
  const auto fail = [](const char* what) { return [=] { throw std::runtime_error(what); }; };
  const auto message = [](auto left, auto right) -> std::string {
    try {
      parlay::par_do(left, right);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(message(fail("left"), [] {}), "left");
  EXPECT_EQ(message([] {}, fail("right")), "right");
  EXPECT_EQ(message(fail("left"), fail("right")), "left");
  EXPECT_EQ(fib(10), 55);
}

TEST(parlay, is_called_by_main_many_times) {
  std::size_t sum = 0;
  for (int round = 0; round < 2000; ++round) {
    std::atomic<std::size_t> here{0};
    parlay::parallel_for(
        0, 20, [&](std::size_t i) { here += i; }, 1);
    parlay::par_do([&] { ++here; }, [&] { ++here; });
    ASSERT_EQ(parlay::worker_id(), 0U);
    sum += here;
  }
  EXPECT_EQ(sum, 2000U * 192U);
}

TEST(parlay, serves_foreign_threads_whose_workers_have_different_numbers) {
  one_at_a_time workers;
  std::atomic<int> faults{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        parlay::parallel_for(
            0, 64, [&](std::size_t) { workers.visit(); }, 1);
        if (fib(8) != 21) ++faults;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(workers.faults, 0);
  EXPECT_EQ(faults, 0);
}

/// Not inlined: compared with what the compiler makes of two calls in one function.
[[gnu::noinline]] std::size_t number_now() {
  asm volatile("");
  return parlay::worker_id();
}

TEST(parlay, tells_the_new_number_after_a_fork_that_moved) {
  bool has_moved = false;
  int faults = 0;
  const auto fork = [&] {
    const std::size_t before = parlay::worker_id();
    std::atomic<bool> begun{false};
    // The thief has begun when the caller joins and mostly has not ended, so that the caller's
    // strand is suspended and continues on the thief's worker.
    parlay::par_do(
        [&] {
          while (!begun) std::this_thread::yield();
        },
        [&] {
          begun = true;
          for (int i = 0; i < 100; ++i) std::this_thread::yield();
        });
    const std::size_t after = parlay::worker_id();
    if (after != number_now()) ++faults;
    has_moved = has_moved || after != before;
  };
  while (!has_moved) parlay::par_do(fork, [] {});
  EXPECT_EQ(faults, 0);
}

TEST(parlay, runs_in_the_runtime_of_the_caller) {
  runtime rt{host(2)};
  rt.run([] {
    EXPECT_EQ(parlay::num_workers(), 2U);
    std::atomic<int> outside{0};
    parlay::parallel_for(
        0, 100,
        [&](std::size_t) {
          if (worker_count() != 2 || parlay::worker_id() >= 2) ++outside;
        },
        1);
    EXPECT_EQ(outside, 0);
  });
  EXPECT_EQ(parlay::num_workers(), 3U);
}

TEST(parlay, executes_with_a_scheduler_of_its_own) {
  const auto check = [] {
    int calls = 0;
    parlay::execute_with_scheduler(5, [&] {
      ++calls;
      EXPECT_EQ(parlay::num_workers(), 5U);
      one_at_a_time workers;
      parlay::parallel_for(
          0, 1000, [&](std::size_t) { workers.visit(); }, 1);
      EXPECT_EQ(workers.faults, 0);
      EXPECT_EQ(fib(10), 55);
    });
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(parlay::num_workers(), 3U);
  };
  check();
  parlay::par_do(check, [] {});
  EXPECT_THROW(parlay::execute_with_scheduler(2, [] { throw std::runtime_error("inside"); }),
               std::runtime_error);
}

}  // namespace
}  // namespace creek::support

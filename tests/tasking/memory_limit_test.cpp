// SPDX-License-Identifier: Apache-2.0
// No memory for stacks: a runtime that cannot start reports it; a running one continues with its
// stacks, and allocates new ones as soon as it can.
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <creek/host.hpp>
#include <creek/tasking.hpp>

#include "support/process_facts.hpp"

namespace creek::support {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

/// Leaves room for the heap, but not for one stack of `large_stack`.
void limit_address_space() {
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = address_space() + 400 * mib;
  setrlimit(RLIMIT_AS, &limit);
}
void lift_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_AS, &limit);
}
constexpr std::size_t large_stack = 1024 * mib;

runtime large_stacks(unsigned workers) {
  scheduler_options options;
  options.workers = workers;
  options.stack_size = large_stack;
  return runtime{host(options)};
}

class memory_limit : public ::testing::Test {
 protected:
  memory_limit() { ::testing::FLAGS_gtest_death_test_style = "threadsafe"; }
  void SetUp() override {
    if (under_sanitizer) GTEST_SKIP() << "a sanitizer needs the address space";
  }
};

TEST_F(memory_limit, that_leaves_no_room_for_workers_is_an_error) {
  const auto begin = [] {
    limit_address_space();
    try {
      runtime rt = large_stacks(2);
    } catch (const error& failure) {
      std::fprintf(stderr, "%s", failure.what());
      std::exit(failure.code().value() == ENOMEM ? 3 : 4);
    }
  };
  EXPECT_EXIT(begin(), ::testing::ExitedWithCode(3),
              "cannot map stacks for 2 workers; lower workers or stack_size, or raise the limit");
}

TEST_F(memory_limit, that_leaves_no_room_for_threads_is_an_error) {
  const auto begin = [] {
    scheduler_options options;
    options.workers = 200;  // threads of 8 MiB of address space each
    options.stack_size = std::size_t{16} << 10;
    limit_address_space();
    try {
      runtime rt{host(options)};
    } catch (const error& failure) {
      std::fprintf(stderr, "%s", failure.what());
      std::exit(3);
    }
  };
  EXPECT_EXIT(begin(), ::testing::ExitedWithCode(3),
              "of 200 worker threads could be started; ask for fewer workers");
}

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

/// Joins, child waits and futures, all of them without another stack.
void wait_in_every_way(unsigned workers) {
  runtime rt = large_stacks(workers);
  limit_address_space();
  bool right = rt.run([] { return fib(22); }) == 17711;
  for (int round = 0; round < 50; ++round) {
    std::vector<promise<int>> values(100);
    std::vector<future<int>> results;
    right &= rt.run([&] {
      for (auto& value : values) {
        results.push_back(async([f = value.get_future()]() mutable { return f.get() + 1; }));
      }
      spawn([&] {
        for (std::size_t i = 0; i < values.size(); ++i) {
          values[i].set_value(static_cast<int>(i));
          if (i == 50) static_cast<void>(rt.waiting());  // may look at strands with tasks on top
        }
      });
      long sum = 0;
      for (auto& each : results) sum += each.get();
      taskwait();
      return sum == 5050;
    });
  }
  std::exit(right ? 0 : 1);
}

TEST_F(memory_limit, makes_waiting_tasks_run_others_on_their_stack) {
  for (const unsigned workers : {1U, 2U, 4U}) {
    EXPECT_EXIT(wait_in_every_way(workers), ::testing::ExitedWithCode(0),
                "no memory for another task's stack");
  }
}

/// Strands that wait on their stacks leave them when other stacks can be had.
void lift_the_limit_meanwhile() {
  runtime rt = large_stacks(2);
  limit_address_space();
  std::vector<promise<int>> values(30);
  std::vector<future<int>> results;
  std::atomic<int> begun{0};
  for (auto& value : values) {
    results.push_back(rt.async([&begun, f = value.get_future()]() mutable {
      begun.fetch_add(1);
      return f.get();
    }));
  }
  while (begun.load() < 10) std::this_thread::yield();
  lift_limit();
  while (begun.load() < static_cast<int>(values.size())) std::this_thread::yield();
  while (rt.counters()[counter::suspends] == 0 || rt.waiting().empty())
    std::this_thread::yield();  // one has left its stack
  // Oldest first: buried waits end before those on top of them.
  for (auto& value : values) value.set_value(1);
  int sum = 0;
  for (auto& each : results) sum += each.get();
  std::exit(sum == static_cast<int>(values.size()) ? 0 : 1);
}

TEST_F(memory_limit, that_is_lifted_is_forgotten) {
  EXPECT_EXIT(lift_the_limit_meanwhile(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace creek::support

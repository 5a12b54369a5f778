// SPDX-License-Identifier: Apache-2.0
// Runtimes that begin and end often: what is left of them, and what they do at once.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include <creek/host.hpp>
#include <creek/tasking.hpp>

#include "support/process_facts.hpp"

namespace creek::support {
namespace {

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

void live(unsigned workers) {
  runtime rt{host(workers)};
  ASSERT_EQ(rt.run([] { return fib(8); }), 21);
}

TEST(a_thousand_lives, leave_nothing) {
  // Address space is no measure: the allocator has a large arena per thread at a time.
  const auto lives = [](int count) {
    for (int i = 0; i < count; ++i) live(2);
  };
  lives(100);
  const std::size_t mappings = mapping_count();
  const std::size_t resident = resident_bytes();
  lives(1000);
  EXPECT_LE(mapping_count(), mappings + 16);
  if (under_sanitizer) return;  // they keep freed memory for a while
  EXPECT_LE(resident_bytes(), resident + (std::size_t{4} << 20));
}

TEST(lives, may_begin_and_end_on_several_threads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      for (int round = 0; round < 50; ++round) live(1 + static_cast<unsigned>(i % 3));
    });
  }
  for (std::thread& each : threads) each.join();
}

TEST(a_runtime, ends_without_a_task) {
  for (int i = 0; i < 100; ++i) {
    runtime rt{host(3)};
    EXPECT_EQ(rt.worker_count(), 3U);
  }
}

TEST(a_runtime, finishes_what_nobody_waited_for) {
  for (int i = 0; i < 200; ++i) {
    std::atomic<int> ran{0};
    {
      runtime rt{host(2)};
      for (int task = 0; task < 10; ++task) {
        rt.async([&ran] {
            fib(5);
            ++ran;
          }).detach();
      }
    }
    ASSERT_EQ(ran, 10);
  }
}

/// The only worker is lent to the caller, which leaves tasks behind when its own ends.
TEST(a_runtime, runs_tasks_that_the_caller_left_to_its_only_worker) {
  for (int i = 0; i < 200; ++i) {
    runtime rt{host(1)};
    std::atomic<int> ran{0};
    task_group group;
    rt.run([&] {
      for (int task = 0; task < 5; ++task) group.spawn([&ran] { ++ran; });
    });
    group.wait();
    ASSERT_EQ(ran, 5);
  }
}

/// The caller suspends on the place of a worker whose thread may not have begun.
TEST(a_runtime, lets_the_first_task_wait) {
  for (int i = 0; i < 200; ++i) {
    runtime rt{host(2)};
    const int got = rt.run([&] {
      promise<int> made;
      future<int> wanted = made.get_future();
      std::thread other([&made, i] { made.set_value(i); });
      const int value = wanted.get();
      other.join();
      return value;
    });
    ASSERT_EQ(got, i);
  }
}

}  // namespace
}  // namespace creek::support

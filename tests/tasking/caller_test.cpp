// SPDX-License-Identifier: Apache-2.0
// Threads that call run(): where their tasks run, and that they run none of anybody else.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include <creek/host.hpp>
#include <creek/tasking.hpp>

namespace creek::support {
namespace {

std::thread::id here() {
  return std::this_thread::get_id();
}

/// Calls until the runtime was idle enough to make the caller a worker.
void run_on_caller(runtime& rt) {
  while (rt.run(here) != here()) std::this_thread::yield();
}

TEST(a_caller, acts_as_a_worker_of_an_idle_runtime) {
  runtime rt{host(2)};
  run_on_caller(rt);
  const int index = rt.run([] { return this_worker(); });
  EXPECT_TRUE(index == 0 || index == 1) << index;
}

TEST(a_caller, does_not_with_pinned_workers) {
  scheduler_options options;
  options.workers = 2;
  options.pin = true;
  runtime rt{host(options)};
  for (int i = 0; i < 100; ++i) EXPECT_NE(rt.run(here), here());
}

TEST(a_caller, runs_no_task_that_might_need_its_lock) {
  for (int round = 0; round < 200; ++round) {
    runtime rt{host(2)};
    run_on_caller(rt);
    std::mutex lock;
    std::atomic<bool> begun{false};
    promise<int> last;
    future<int> wanted = last.get_future();
    std::thread other([&] {
      while (!begun) std::this_thread::yield();
      future<void> locks = rt.async([&] { const std::scoped_lock hold(lock); });
      last.set_value(round);
      locks.get();
    });
    {
      const std::scoped_lock hold(lock);
      EXPECT_EQ(rt.run([&] {
        begun = true;
        return wanted.get();
      }),
                round);
    }
    other.join();
  }
}

TEST(a_caller, passes_exceptions_on) {
  runtime rt{host(2)};
  run_on_caller(rt);
  for (int i = 0; i < 1000; ++i) EXPECT_THROW(rt.run([] { throw 1; }), int);
}

/// Sums 1 to n, with a part on its way to another worker now and then.
std::uint64_t sum_to(std::uint64_t n) {
  std::atomic<std::uint64_t> sum{0};
  for (std::uint64_t i = 1; i <= n; ++i) spawn([&sum, i] { sum += i; });
  taskwait();
  return sum;
}

TEST(callers, come_and_go_with_tasks_from_elsewhere) {
  constexpr int rounds = 2000;
  runtime rt{host(3)};
  std::vector<std::thread> threads;
  for (std::uint64_t kind = 0; kind < 3; ++kind) {
    threads.emplace_back([&, kind] {
      for (int i = 0; i < rounds; ++i) {
        const std::uint64_t n = 1 + (i + kind) % 7;
        const std::uint64_t sum = i % 3 == 2 ? rt.async([n] { return sum_to(n); }).get()
                                             : rt.run([n] { return sum_to(n); });
        ASSERT_EQ(sum, n * (n + 1) / 2);
        if (i % 64 == 63) std::this_thread::yield();
      }
    });
  }
  for (std::thread& each : threads) each.join();
}

}  // namespace
}  // namespace creek::support

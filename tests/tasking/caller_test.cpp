// SPDX-License-Identifier: Apache-2.0
// Threads that call run(): where their tasks run, and that they run none of anybody else.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
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

/// The runtime's other worker ends the call, while the future's task waits for what comes after it.
TEST(a_caller, runs_no_task_that_may_outlive_its_call) {
  for (int round = 0; round < 100; ++round) {
    runtime rt{host(2)};
    run_on_caller(rt);
    std::atomic<bool> go{false}, begun{false};
    promise<void> other;
    future<void> wanted = other.get_future();
    future<void> late;
    std::thread fulfils([&] {
      while (!begun) std::this_thread::yield();
      other.set_value();
    });
    rt.run([&] {
      late = async([&] {
        while (!go) std::this_thread::yield();
      });
      begun = true;
      wanted.get();
    });
    go = true;
    late.get();
    fulfils.join();
  }
}

TEST(a_caller, returns_when_the_runtime_ends_during_its_call) {
  for (int round = 0; round < 200; ++round) {
    auto rt = std::make_unique<runtime>(host(2));
    std::atomic<bool> done{false};
    promise<void> other;
    future<void> wanted = other.get_future();
    std::thread calls([&] {
      rt->run([&] {
        wanted.get();
        done = true;
      });
    });
    while (rt->waiting().empty()) std::this_thread::yield();
    other.set_value();
    while (!done) std::this_thread::yield();
    rt->shut_down();
    calls.join();
  }
}

TEST(a_caller, may_call_when_its_other_variables_are_gone) {
  runtime rt{host(2)};
  std::atomic<int> ran{0};
  struct at_end {
    runtime* rt = nullptr;
    std::atomic<int>* ran = nullptr;
    ~at_end() {
      for (int i = 0; i < 100; ++i) rt->run([this] { ++*ran; });
    }
  };
  std::thread([&] {
    thread_local at_end last;  // made first, so it goes last
    last.rt = &rt;
    last.ran = &ran;
    run_on_caller(rt);
  }).join();
  EXPECT_EQ(ran, 100);
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

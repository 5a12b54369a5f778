// SPDX-License-Identifier: Apache-2.0
// Numbers of workers from one to far more than processors, and options that no runtime accepts.
#include <gtest/gtest.h>

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <creek/host.hpp>
#include <creek/tasking.hpp>

#include "support/process_facts.hpp"

namespace creek::support {
namespace {

using namespace std::chrono_literals;

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

struct setup {
  const char* name;
  scheduler_kind scheduler;
  deque_kind deque;
  idle_policy idle;
};

class one_worker : public ::testing::TestWithParam<setup> {
 protected:
  static scheduler_options options() {
    scheduler_options chosen;
    chosen.workers = 1;
    chosen.scheduler = GetParam().scheduler;
    chosen.deque = GetParam().deque;
    chosen.idle = GetParam().idle;
    chosen.deque_capacity = 64;
    return chosen;
  }
};

TEST_P(one_worker, does_everything_alone) {
  runtime rt{host(options())};
  EXPECT_EQ(rt.worker_count(), 1U);
  EXPECT_EQ(rt.run([] { return fib(16); }), 987);
  std::atomic<int> ran{0};
  rt.run([&] {
    for (int i = 0; i < 200; ++i) {
      spawn([&] {
        spawn([&] { ran.fetch_add(1); });
        ran.fetch_add(1);
      });
    }
    taskwait();
    task_group group;
    for (int i = 0; i < 100; ++i) group.spawn([&] { ran.fetch_add(1); });
    group.wait();
    auto chained = async([] { return 20; }).then([](int x) { return x + 1; });
    ran.fetch_add(chained.get());
  });
  EXPECT_EQ(ran.load(), 521);
}

TEST_P(one_worker, lets_strands_wait_for_one_another) {
  runtime rt{host(options())};
  promise<int> first, second;
  auto sum = rt.async([a = first.get_future(), &second]() mutable {
    const int value = a.get();
    second.set_value(value + 1);
    return value;
  });
  const int last = rt.run([&] {
    first.set_value(1);
    return second.get_future().get();
  });
  EXPECT_EQ(last + sum.get(), 3);
}

using enum scheduler_kind;
INSTANTIATE_TEST_SUITE_P(
    all, one_worker,
    ::testing::Values(setup{"random", stealing_random, deque_kind::host, idle_policy::block},
                      setup{"last_victim", stealing_last_victim, deque_kind::host,
                            idle_policy::block},
                      setup{"latency", stealing_latency, deque_kind::host, idle_policy::block},
                      setup{"sharing", sharing, deque_kind::host, idle_policy::block},
                      setup{"mpb", stealing_random, deque_kind::mpb, idle_policy::block},
                      setup{"poll", stealing_random, deque_kind::host, idle_policy::poll},
                      setup{"backoff", stealing_random, deque_kind::host, idle_policy::backoff}),
    [](const auto& chosen) { return std::string(chosen.param.name); });

class too_many_workers : public ::testing::TestWithParam<idle_policy> {};

TEST_P(too_many_workers, make_progress) {
  scheduler_options options;
  options.workers = under_sanitizer ? 24 : 64;
  options.idle = GetParam();
  runtime rt{host(options)};
  EXPECT_EQ(rt.run([] { return fib(18); }), 2584);
  std::atomic<int> ran{0};
  rt.run([&] {
    for (int i = 0; i < 1000; ++i) spawn([&] { ran.fetch_add(1); });
    taskwait();
  });
  EXPECT_EQ(ran.load(), 1000);
}
INSTANTIATE_TEST_SUITE_P(idle, too_many_workers,
                         ::testing::Values(idle_policy::block, idle_policy::backoff,
                                           idle_policy::poll),
                         [](const auto& chosen) { return std::string(to_string(chosen.param)); });

TEST(too_many_workers, burn_nothing_without_work) {
  runtime rt{host(64)};
  rt.run([] { return fib(15); });
  std::this_thread::sleep_for(20ms);
  const double before = cpu_seconds();
  std::this_thread::sleep_for(300ms);
  EXPECT_LT(cpu_seconds() - before, under_sanitizer ? 0.2 : 0.01);
}

TEST(worker_threads, carry_the_name_of_the_runtime) {
  scheduler_options options;
  options.workers = 2;
  options.name = "render";
  runtime rt{host(options)};
  std::string name;
  rt.run([&] {
    std::atomic<bool> ran{false};
    spawn([&] {
      char text[16] = "";
      pthread_getname_np(pthread_self(), text, sizeof text);
      name = text;
      ran = true;
    });
    while (!ran) std::this_thread::yield();  // until another worker, never the caller, has run it
    taskwait();
  });
  EXPECT_TRUE(name == "render/0" || name == "render/1") << name;
}

/// Returns the text of the usage_error that a runtime with these options throws.
std::string refusal(const std::function<void(scheduler_options&)>& change) {
  scheduler_options options;
  change(options);
  try {
    runtime rt{host(options)};
  } catch (const usage_error& failure) {
    return failure.what();
  }
  return "accepted";
}

TEST(options_out_of_range, are_refused_with_the_range) {
  EXPECT_EQ(refusal([](auto& o) { o.workers = 4097; }),
            "scheduler_options: workers is 4097; at most 4096 are possible");
  EXPECT_EQ(refusal([](auto& o) { o.stack_size = 16383; }),
            "scheduler_options: stack_size must be 16 KiB to 4 GiB");
  EXPECT_EQ(refusal([](auto& o) { o.stack_size = ~std::size_t{0}; }),
            "scheduler_options: stack_size must be 16 KiB to 4 GiB");
  EXPECT_EQ(refusal([](auto& o) { o.deque_capacity = 1; }),
            "scheduler_options: deque_capacity must be 2 to 1048576");
  EXPECT_EQ(refusal([](auto& o) { o.deque_capacity = (1U << 20) + 1; }),
            "scheduler_options: deque_capacity must be 2 to 1048576");
  EXPECT_EQ(refusal([](auto& o) { o.name = "eleven char"; }),
            "scheduler_options: name must have at most 10 characters");
}

TEST(options_at_the_limits, are_taken) {
  scheduler_options options;
  options.workers = 1;
  options.stack_size = std::size_t{1} << 32;
  options.deque_capacity = 1U << 20;
  options.name = "ten chars.";
  runtime rt{host(options)};
  EXPECT_EQ(rt.run([] { return fib(10); }), 55);
  options.stack_size = std::size_t{under_sanitizer ? 64 : 16} << 10;
  options.deque_capacity = 2;
  options.name = "";
  runtime small{host(options)};
  EXPECT_EQ(small.run([] { return fib(10); }), 55);
}

TEST(the_default, is_what_the_process_may_use) {
  runtime rt{host()};
  EXPECT_GE(rt.worker_count(), 1U);
  EXPECT_LE(rt.worker_count(), std::thread::hardware_concurrency());
}

}  // namespace
}  // namespace creek::support

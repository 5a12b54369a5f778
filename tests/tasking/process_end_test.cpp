// SPDX-License-Identifier: Apache-2.0
// Ends of a process and of a runtime: exit in a task, exit with work pending, static runtimes,
// runtimes that end while strands wait.
#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>

#include <creek/host.hpp>
#include <creek/tasking.hpp>

namespace creek::support {
namespace {

using ::testing::ExitedWithCode;

class process_end : public ::testing::Test {
 protected:
  process_end() { ::testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

std::atomic<int> finished{0};

TEST_F(process_end, by_exit_in_a_task) {
  const auto leave = [] {
    runtime rt{host(2)};
    rt.run([] {
      spawn([] { std::exit(7); });
      taskwait();
    });
  };
  EXPECT_EXIT(leave(), ExitedWithCode(7), "");
}

TEST_F(process_end, by_exit_in_a_task_of_a_static_runtime) {
  const auto leave = [] {
    static runtime rt{host(2)};
    rt.run([] {
      // Static, since a leak checker does not search this frame; atomic, since the optimiser drops
      // what is never read.
      static std::atomic<future<int>*> other;
      other = new future<int>(async([] { return 1; }));
      fork_join([] {}, [] { std::exit(7); });
    });
  };
  EXPECT_EXIT(leave(), ExitedWithCode(7), "");
}

TEST_F(process_end, by_exit_finishes_what_a_static_runtime_has_begun) {
  const auto leave = [] {
    std::atexit([] { std::fprintf(stderr, "finished %d", finished.load()); });  // runs last
    static runtime rt{host(2)};
    rt.run([] {
      for (int i = 0; i < 100; ++i) {
        (void)async([] {
          std::this_thread::yield();
          finished.fetch_add(1);
        });
      }
    });
    for (int i = 0; i < 100; ++i) (void)rt.async([] { finished.fetch_add(1); });
    std::exit(0);
  };
  EXPECT_EXIT(leave(), ExitedWithCode(0), "finished 200");
}

TEST_F(process_end, by_quick_exit_and_by_a_leaked_runtime) {
  const auto leave = [](bool quick) {
    static auto* const leaked = new runtime{host(2)};
    static std::atomic<bool> begun{false};
    (void)leaked->async([] {
      begun = true;
      while (true) std::this_thread::yield();
    });
    while (!begun) std::this_thread::yield();
    quick ? std::quick_exit(4) : std::exit(5);
  };
  EXPECT_EXIT(leave(true), ExitedWithCode(4), "");
  EXPECT_EXIT(leave(false), ExitedWithCode(5), "");
}

TEST_F(process_end, by_exit_while_a_call_blocks_for_ever) {
  const auto leave = [] {
    static auto* const leaked = new runtime{host(1)};
    leaked->run([] { blocking([] {}); });  // leaves an idle thread
    static std::atomic<bool> begun{false};
    (void)leaked->async([] {
      blocking([] {
        begun = true;
        begun.notify_one();
        while (true) pause();
      });
    });
    begun.wait(false);
    std::exit(6);
  };
  EXPECT_EXIT(leave(), ExitedWithCode(6), "");
}

struct uses_runtime_at_the_end {
  std::unique_ptr<runtime>& rt;
  ~uses_runtime_at_the_end() {
    std::fprintf(stderr, "at the end %d", rt->run([] { return 42; }));
    rt.reset();
  }
};

TEST_F(process_end, a_runtime_works_in_static_destructors) {
  const auto leave = [] {
    static auto* rt = new std::unique_ptr<runtime>(new runtime{host(2)});
    static uses_runtime_at_the_end last{*rt};
    std::exit(0);
  };
  EXPECT_EXIT(leave(), ExitedWithCode(0), "at the end 42");
}

TEST(runtime_end, finishes_detached_tasks) {
  std::atomic<int> ran{0};
  {
    runtime rt{host(2)};
    for (int i = 0; i < 200; ++i) {
      (void)rt.async([&ran] {
        (void)async([&ran] { ran.fetch_add(1); });
        ran.fetch_add(1);
      });
    }
  }
  EXPECT_EQ(ran.load(), 400);
}

TEST(runtime_end, waits_for_strands_that_a_foreign_thread_resumes) {
  std::atomic<int> ran{0};
  promise<int> later;
  std::thread keeper;
  {
    runtime rt{host(2)};
    std::atomic<bool> waits{false};
    (void)rt.async([&, f = later.get_future()]() mutable {
      waits = true;
      ran.fetch_add(f.get());
      (void)async([&ran] { ran.fetch_add(1); });
    });
    while (!waits) std::this_thread::yield();
    keeper = std::thread([&] { later.set_value(10); });
  }
  EXPECT_EQ(ran.load(), 11);
  keeper.join();
}

TEST(runtime_end, comes_quickly_for_many_runtimes) {
  for (int i = 0; i < 50; ++i) {
    scheduler_options options;
    options.workers = 1 + i % 4;
    options.idle = static_cast<idle_policy>(i % 3);
    runtime rt{host(options)};
    if (i % 2 == 0) {
      EXPECT_EQ(rt.run([i] { return i; }), i);
    }
  }
}

TEST(several_runtimes, run_in_one_another) {
  runtime outer{host(2)}, inner{host(2)};
  const int sum = outer.run([&] {
    auto [a, b] = fork_join([&] { return inner.run([&] { return outer.run([] { return 1; }); }); },
                            [&] { return inner.async([] { return 2; }).get(); });
    return a + b;
  });
  EXPECT_EQ(sum, 3);
}

TEST(several_runtimes, may_be_made_in_a_task) {
  runtime outer{host(2)};
  std::atomic<int> sum{0};
  outer.run([&] {
    for (int i = 0; i < 4; ++i) {
      spawn([&, i] {
        runtime own{host(1)};
        sum.fetch_add(own.run([i] { return i; }));
      });
    }
    taskwait();
  });
  EXPECT_EQ(sum.load(), 6);
}

}  // namespace
}  // namespace creek::support

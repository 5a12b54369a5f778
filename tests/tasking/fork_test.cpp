// SPDX-License-Identifier: Apache-2.0
// fork(): nothing changes for the parent; the child has none of the workers, gets errors that say
// so, and may create a new runtime.
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>

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

/// Returns when the workers of `rt` have begun. A starting thread may hold a lock of
/// the allocator, which the AddressSanitizer of GCC 12 leaves locked in the child of a fork.
void start_workers(runtime& rt) {
  rt.run([] {
    std::atomic<bool> met{false};
    fork_join(
        [&] {
          while (!met.load()) std::this_thread::yield();
        },
        [&] { met = true; });
  });
  let_others_sleep();
}

/// Returns the exit status of a child that runs `body`, whose result is its exit code.
template <class F>
int in_child(F body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

/// Returns 1 if `f` throws a usage_error that says `text`, else 0.
template <class F>
int refused(F f, const char* text) {
  try {
    f();
  } catch (const usage_error& failure) {
    return std::string(failure.what()).find(text) != std::string::npos ? 1 : 0;
  }
  return 0;
}

#define SKIP_WITHOUT_THREADS_AFTER_FORK() \
  if (under_tsan) GTEST_SKIP() << "ThreadSanitizer starts no threads after such a fork"

TEST(fork_in_main, tells_the_child_that_the_workers_are_gone) {
  runtime rt{host(2)};
  start_workers(rt);
  const int both = in_child([&] {
    return 10 * refused([&] { rt.run([] {}); }, "make a new runtime there") +
           refused([&] { (void)rt.async([] {}); }, "make a new runtime there");
  });
  EXPECT_EQ(both, 11);
  EXPECT_EQ(rt.run([] { return fib(10); }), 55) << "the parent goes on";
}

TEST(fork_in_main, lets_the_child_destroy_the_inherited_runtime) {
  auto rt = std::make_unique<runtime>(host(2));
  start_workers(*rt);
  EXPECT_EQ(in_child([&] {
              rt.reset();
              return 7;
            }),
            7);
}

TEST(fork_in_main, lets_the_child_make_its_own_runtime) {
  SKIP_WITHOUT_THREADS_AFTER_FORK();
  runtime rt{host(2)};
  start_workers(rt);
  EXPECT_EQ(in_child([] {
              runtime own{host(2)};
              return static_cast<int>(own.run([] { return fib(12); }));
            }),
            144);
  EXPECT_EQ(rt.run([] { return fib(10); }), 55);
}

TEST(fork_in_main, leaves_grandchildren_as_free_as_children) {
  SKIP_WITHOUT_THREADS_AFTER_FORK();
  EXPECT_EQ(in_child([] {
              runtime first{host(2)};
              start_workers(first);
              return in_child([&] {
                const int told = refused([&] { first.run([] {}); }, "new runtime");
                runtime second{host(1)};
                return told + static_cast<int>(second.run([] { return fib(10); }));
              });
            }),
            56);
}

TEST(fork_in_main, lets_the_child_end_by_exit) {
  static std::optional<runtime> inherited;
  inherited.emplace(host(2));
  start_workers(*inherited);
  const pid_t child = fork();
  if (child == 0) std::exit(5);  // destroys `inherited`
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 5);
  inherited.reset();
}

TEST(fork_in_main, gives_the_child_deadlines_of_its_own) {
  SKIP_WITHOUT_THREADS_AFTER_FORK();
  using namespace std::chrono_literals;
  runtime rt{host(2)};
  start_workers(rt);
  promise<int> kept;
  future<int> of_parent = kept.get_future();
  const auto wait_shortly = [&] {
    return of_parent.wait_for(1ms) == std::future_status::timeout ? 1 : 0;
  };
  EXPECT_EQ(rt.run(wait_shortly), 1);
  // In the queue of the parent while the children begin, which know nothing of it.
  future<bool> waits =
      rt.async([&] { return of_parent.wait_for(1h) == std::future_status::ready; });
  let_others_sleep();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(in_child([&] {
                runtime own{host(2)};
                return 10 * wait_shortly() + own.run([] {
                  promise<int> never;
                  future<int> unready = never.get_future();
                  return unready.wait_for(1ms) == std::future_status::timeout ? 1 : 0;
                });
              }),
              11);
  }
  kept.set_value(1);
  EXPECT_TRUE(waits.get());
}

TEST(fork_in_main, gives_the_child_threads_that_may_block) {
  SKIP_WITHOUT_THREADS_AFTER_FORK();
  const auto call = [] { return blocking([] { return 3; }); };
  runtime parent{host(2)};
  start_workers(parent);
  EXPECT_EQ(parent.run(call), 3);
  EXPECT_EQ(in_child([&] {
              runtime own{host(2)};
              return own.run(call) + own.run(call);
            }),
            6);
  EXPECT_EQ(parent.run(call), 3);
}

TEST(fork_in_a_blocking_call, ends_a_child_that_returns_from_it) {
  runtime rt{host(2)};
  start_workers(rt);
  const int status = rt.run([] {
    return blocking([] {
      const pid_t child = fork();
      if (child == 0) return 0;
      int ended = 0;
      waitpid(child, &ended, 0);
      return ended;
    });
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
}

TEST(fork_in_a_blocking_call, lets_the_child_end_itself) {
  runtime rt{host(2)};
  start_workers(rt);
  EXPECT_EQ(rt.run([] { return blocking([] { return in_child([] { return 5; }); }); }), 5);
}

TEST(fork_in_main, leaves_foreign_objects_to_the_parent) {
  struct counts_its_end {
    std::atomic<int>* ended;
    ~counts_its_end() { ++*ended; }
  };
  std::atomic<int> ended{0};
  std::optional<runtime> rt{host(2)};
  start_workers(*rt);
  foreign<counts_its_end> one = rt->run(
      [&] { return adopt_foreign(std::unique_ptr<counts_its_end>(new counts_its_end{&ended})); });
  EXPECT_EQ(in_child([&] {
              one.reset();
              return 10 + ended.load();
            }),
            10);
  EXPECT_EQ(ended.load(), 0);
  one.reset();
  rt.reset();  // after what was sent to it
  EXPECT_EQ(ended.load(), 1);
}

TEST(fork_while_workers_run, leaves_the_parent_alone) {
  runtime rt{host(3)};
  auto busy = rt.async([] { return fib(under_sanitizer ? 18 : 24); });
  for (int i = 0; i < 20; ++i) EXPECT_EQ(in_child([] { return 3; }), 3);
  EXPECT_EQ(busy.get(), under_sanitizer ? 2584 : 46368);
}

TEST(fork_in_a_task, makes_the_child_a_thread_like_any_other) {
  runtime rt{host(2)};
  start_workers(rt);
  const int child = rt.run([&] {
    return in_child([] {
      return 10 * refused([] { spawn([] {}); }, "no runtime on this thread") +
             refused([] { fork_join([] {}, [] {}); }, "no runtime on this thread") +
             (this_worker() == -1 ? 5 : 0);
    });
  });
  EXPECT_EQ(child, 16);
  EXPECT_EQ(rt.run([] { return fib(10); }), 55);
}

TEST(fork_in_a_task, lets_the_child_make_its_own_runtime) {
  SKIP_WITHOUT_THREADS_AFTER_FORK();
  runtime rt{host(2)};
  start_workers(rt);
  const int child = rt.run([&] {
    return in_child([] {
      runtime own{host(2)};
      return static_cast<int>(own.run([] { return fib(12); }));
    });
  });
  EXPECT_EQ(child, 144);
}

TEST(fork_in_a_task, ends_a_child_that_returns_from_the_task) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto forget_to_exit = [] {
    runtime rt{host(2)};
    start_workers(rt);
    const pid_t child = rt.run([] { return fork(); });
    int status = 0;
    waitpid(child, &status, 0);
    std::exit(WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  };
  EXPECT_EXIT(forget_to_exit(), ::testing::ExitedWithCode(SIGABRT),
              "the child of a fork\\(\\) in a task returned from it; end it with exec or _exit");
}

TEST(fork_in_a_task, ends_a_child_that_waits_for_the_parent) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto join_in_the_child = [] {
    runtime rt{host(2)};
    std::atomic<bool> stolen{false}, go{false};
    pid_t child = 0;
    rt.run([&] {
      fork_join(
          [&] {
            while (!stolen.load()) std::this_thread::yield();
            child = fork();
            if (child != 0) go = true;
          },
          [&] {
            stolen = true;
            while (!go.load()) std::this_thread::yield();
          });
    });
    int status = 0;
    waitpid(child, &status, 0);
    std::exit(WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  };
  EXPECT_EXIT(join_in_the_child(), ::testing::ExitedWithCode(SIGABRT),
              "workers that exist only in the parent");
}

}  // namespace
}  // namespace creek::support

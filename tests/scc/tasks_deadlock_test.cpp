// SPDX-License-Identifier: Apache-2.0
// Task runtimes on the simulated chip in a deadlock: every waiter gets an error, whatever depends
// on it, and the runtime can be destroyed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <thread>

#include <creek/core/charge.hpp>
#include <creek/core/error.hpp>
#include <creek/scc.hpp>
#include <creek/tasking.hpp>
#include <creek/tasking/sender.hpp>

#include "support/process_facts.hpp"

namespace {

using namespace creek;

/// Returns what run() reports about a task that waits for a value that no task sets; empty if
/// anything is not as it should be.
std::string deadlock_on(unsigned workers) {
  runtime rt{scc{workers}};
  promise<int> never;
  auto waited = never.get_future();
  std::string said;
  try {
    rt.run([&] {
      spawn([&] { waited.wait(); });
      taskwait();
    });
  } catch (const error& failure) {
    if (failure.code().value() == EDEADLK) said = failure.what();
  }
  for (int i = 0; i < 2; ++i) {  // the runtime has ended
    try {
      i == 0 ? rt.run([] { return 1; }) : rt.async([] { return 1; }).get();
      return "";
    } catch (const error&) {
    }
  }
  return said;
}

/// Runs each case in its own process, since stacks that never continue keep what they own.
class SccDeadlocks : public testing::Test {
 protected:
  void SetUp() override {
    // Started anew instead of forked it would have threads, but also one of the sanitizer's own: a
    // deadlock is detected when all threads of the process wait.
    if (creek::support::under_tsan)
      GTEST_SKIP() << "ThreadSanitizer starts no threads in a forked process";
  }
};

TEST_F(SccDeadlocks, AreErrors) {
  for (const unsigned workers : {1U, 8U}) {
    EXPECT_EXIT(
        {
          std::fputs(deadlock_on(workers).c_str(), stderr);
          std::fflush(stderr);
          _exit(0);
        },
        testing::ExitedWithCode(0), "deadlock.*core 0: ");
  }
}

/// Runs `body`, which ends in a deadlock, in a separate process with a time limit.
template <class F>
void expect_deadlock(F body) {
  EXPECT_EXIT(
      {
        alarm(30);
        try {
          body();
        } catch (const error& failure) {
          _exit(failure.code().value() == EDEADLK ? 0 : 1);
        }
        _exit(2);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(SccDeadlocks, MayBeFollowedByContinuations) {
  expect_deadlock([] {
    runtime rt{scc{2}};
    promise<int> never;  // broken at the end: its continuation is submitted, and resumes another
    rt.run([&] { return never.get_future().then([](int x) { return x; }).get(); });
  });
}

TEST_F(SccDeadlocks, TellTasksThatWaitForEachOther) {
  for (const unsigned workers : {1U, 2U, 8U}) {
    expect_deadlock([&] {
      runtime rt{scc{workers}};
      promise<int> never;
      future<int> first = rt.async([&] {
        charge(cycles{101'000});
        return never.get_future().get();
      });
      rt.run([&] {
        charge(cycles{100'000});
        return first.get();
      });
    });
  }
}

TEST_F(SccDeadlocks, TellContinuations) {
  expect_deadlock([] {
    runtime rt{scc{4}};
    promise<int> never;
    future<int> last = rt.async([&] { return never.get_future().get(); });
    for (int i = 0; i < 1000; ++i) {
      last = last.then([](int x) { return x + 1; });
    }
    rt.run([&] { return last.get(); });
  });
}

/// An operation that destroys itself as it completes, and then waits.
struct gone_and_waiting {
  struct receiver {
    using receiver_concept = execution::receiver_tag;
    void set_value() noexcept {
      const future<int>& awaited = *waited;
      delete self;
      awaited.wait();
    }
    void set_error(const std::exception_ptr&) noexcept {}
    void set_stopped() noexcept {}

    gone_and_waiting* self;
    const future<int>* waited;
  };
  gone_and_waiting(task_scheduler scheduler, const future<int>& waited)
      : operation(scheduler.schedule().connect(receiver{this, &waited})) {}

  decltype(std::declval<task_scheduler>().schedule().connect(std::declval<receiver>())) operation;
};

TEST_F(SccDeadlocks, TellOperationsThatHaveNotBegun) {
  expect_deadlock([] {
    runtime rt{scc{2}};
    const task_scheduler scheduler = get_scheduler(rt);
    promise<int> never;
    const future<int> waited = never.get_future();
    for (int i = 0; i < 3; ++i) (new gone_and_waiting(scheduler, waited))->operation.start();
    try {
      rt.run([&] { waited.wait(); });
      _exit(3);
    } catch (const error&) {
    }
    as_future(scheduler.schedule()).get();
  });
}

TEST(SccStandstills, AreNoDeadlocksWhileAnotherThreadMayCome) {
  runtime rt{scc{4}};
  promise<int> later;
  auto waited = later.get_future();
  std::jthread opener;
  const int got = rt.run([&] {
    opener = std::jthread([&] { later.set_value(3); });
    return waited.get();
  });
  EXPECT_EQ(got, 3);
}

TEST(SccStandstills, EndTheProcessAtTheEndOfTime) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // with threads under ThreadSanitizer too
  EXPECT_DEATH(
      {
        runtime rt{scc{4}};
        rt.run([] { charge(cycles{9'000'000'000'000'000}); });
      },
      "creek: simulated chip: virtual time ends after 8223 seconds");
}

}  // namespace

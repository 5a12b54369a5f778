// SPDX-License-Identifier: Apache-2.0
// Schedulers and their senders: how and where operations complete, on every backend.
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include <creek/tasking/sender.hpp>

#include "receivers.hpp"
#include "setups.hpp"
#include "support/allocations.hpp"
#include "support/process_facts.hpp"

namespace {

using namespace conformance;
using creek::support::allocations_here;

class Sender : public Conformance {};
CONFORMANCE(Sender);

using schedule_sender = decltype(std::declval<creek::task_scheduler>().schedule());
using operation = decltype(std::declval<schedule_sender>().connect(std::declval<receiver>()));

static_assert(execution::scheduler<creek::task_scheduler>);
static_assert(execution::sender<schedule_sender>);
static_assert(execution::receiver<receiver>);
static_assert(execution::sender_to<schedule_sender, receiver>);
static_assert(execution::operation_state<operation>);
static_assert(!std::is_move_constructible_v<operation>);
static_assert(std::is_trivially_copyable_v<creek::task_scheduler>);
static_assert(!execution::sender<int> && !execution::scheduler<int> && !execution::receiver<int>);
static_assert(
    std::is_same_v<schedule_sender::completion_signatures,
                   execution::completion_signatures<execution::set_value_t(),
                                                    execution::set_error_t(std::exception_ptr),
                                                    execution::set_stopped_t()>>);

TEST_P(Sender, CompletesOnAWorker) {
  on_each_runtime([](creek::runtime& rt) {
    const creek::task_scheduler scheduler = creek::get_scheduler(rt);
    const auto expect_on_worker = [&] {
      outcome seen;
      auto running = scheduler.schedule().connect(receiver{&seen});
      running.start();
      seen.wait();
      EXPECT_EQ(seen.values, 1);
      EXPECT_EQ(seen.errors + seen.stops, 0);
      EXPECT_GE(seen.worker, 0);
      EXPECT_LT(seen.worker, static_cast<int>(rt.worker_count()));
    };
    expect_on_worker();
    rt.run(expect_on_worker);
    std::jthread(expect_on_worker).join();
  });
}

TEST_P(Sender, SchedulersAreEqualIfTheirRuntimeIs) {
  on_each_runtime([](creek::runtime& rt) {
    const creek::task_scheduler scheduler = creek::get_scheduler(rt);
    EXPECT_EQ(scheduler, creek::get_scheduler(rt));
    EXPECT_EQ(scheduler, rt.run([] { return creek::get_scheduler(); }));
    creek::runtime other{creek::scheduler_options{.workers = 1}};
    EXPECT_NE(scheduler, creek::get_scheduler(other));
    const auto query = execution::get_completion_scheduler_t<execution::set_value_t>{};
    EXPECT_EQ(scheduler.schedule().get_env().query(query), scheduler);
  });
  EXPECT_THROW(creek::get_scheduler(), creek::usage_error);
}

TEST_P(Sender, StartedInAnotherRuntimeCompletesInItsOwn) {
  on_each_runtime([](creek::runtime& rt) {
    creek::runtime other{creek::scheduler_options{.workers = 1}};
    const creek::task_scheduler scheduler = creek::get_scheduler(rt);
    std::optional<creek::task_scheduler> completed_by;
    creek::promise<void> promise;
    other.run([&] {
      start_detached(scheduler.schedule(), [&] {
        completed_by = creek::get_scheduler();
        promise.set_value();
      });
    });
    promise.get_future().get();
    EXPECT_EQ(completed_by, scheduler);
  });
}

TEST_P(Sender, AllocatesNothing) {
  if (creek::support::under_sanitizer) GTEST_SKIP() << "allocations are not counted";
  if (!is_host()) GTEST_SKIP() << "oneTBB and the simulator allocate for every task";
  on_each_runtime([&](creek::runtime& rt) {
    const auto expect_none = [scheduler = creek::get_scheduler(rt)] {
      outcome seen;
      const long before = allocations_here;
      auto running = scheduler.schedule().connect(receiver{&seen});
      running.start();
      EXPECT_EQ(allocations_here, before);
      seen.wait();
    };
    expect_none();
    rt.run(expect_none);
  });
}

TEST_P(Sender, IsStoppedBeforeItBegins) {
  on_each_runtime([](creek::runtime& rt) {
    const creek::task_scheduler scheduler = creek::get_scheduler(rt);
    std::stop_source stop;
    outcome before, after;
    auto running = scheduler.schedule().connect(receiver{&before, stop.get_token()});
    running.start();
    before.wait();
    EXPECT_EQ(before.values, 1);
    stop.request_stop();
    auto stopped = scheduler.schedule().connect(receiver{&after, stop.get_token()});
    stopped.start();
    after.wait();
    EXPECT_EQ(after.stops, 1);
    EXPECT_EQ(after.values + after.errors, 0);
    EXPECT_GE(after.worker, 0) << "it completes on a worker all the same";
    if (rt.worker_count() > 1) return;
    rt.run([&] {  // the only worker is busy, so the operation cannot have begun
      std::stop_source late;
      outcome seen;
      auto queued = scheduler.schedule().connect(receiver{&seen, late.get_token()});
      queued.start();
      late.request_stop();
      seen.wait();
      EXPECT_EQ(seen.stops, 1);
    });
  });
}

TEST_P(Sender, CompletesInOrderOnOneHostWorker) {
  if (!is_host() || GetParam().workers != 1) GTEST_SKIP() << "no order is promised";
  on_each_runtime([](creek::runtime& rt) {
    const creek::task_scheduler scheduler = creek::get_scheduler(rt);
    std::vector<int> order;
    rt.run([&] {
      creek::promise<void> promise;
      for (int i = 0; i < 10; ++i) {
        start_detached(scheduler.schedule(), [&, i] {
          order.push_back(i);
          if (order.size() == 10) promise.set_value();
        });
      }
      promise.get_future().get();
    });
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  });
}

TEST_P(Sender, ItsReceiverIsATask) {
  on_each_runtime([](creek::runtime& rt) {
    const creek::task_scheduler scheduler = creek::get_scheduler(rt);
    creek::promise<long> promise;
    start_detached(scheduler.schedule(), [&] {
      const auto [a, b] = creek::fork_join([] { return fib(8); }, [] { return fib(7); });
      long c = 0;
      creek::spawn([&] { c = fib(6); });
      creek::taskwait();
      promise.set_value(a + b + c + creek::async([] { return 1L; }).get());
    });
    EXPECT_EQ(promise.get_future().get(),
              fib_sequential(8) + fib_sequential(7) + fib_sequential(6) + 1);
  });
}

TEST_P(Sender, ReportsExceptionsOfTasksNobodyWaitsFor) {
  on_each_runtime([](creek::runtime& rt) {
    const creek::task_scheduler scheduler = creek::get_scheduler(rt);
    testing::internal::CaptureStderr();
    start_detached(scheduler.schedule(),
                   [] { creek::spawn([] { throw std::runtime_error("lost"); }); });
    rt.shut_down();
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "creek: a task's exception was dropped: lost\n");
  });
}

TEST_P(Sender, TheRuntimeEndsAfterAllThatWasStarted) {
  std::atomic<int> completed{0};
  int started = 0;
  for (const creek::scheduler_options& options : variants(GetParam())) {
    SCOPED_TRACE(describe(options));
    std::optional<creek::runtime> rt(make_runtime(options, GetParam().backend));
    const creek::task_scheduler scheduler = creek::get_scheduler(*rt);
    for (int i = 0; i < 20; ++i) {
      // Each starts another, perhaps when the end has begun.
      start_detached(scheduler.schedule(), [&completed, scheduler] {
        ++completed;
        start_detached(scheduler.schedule(), [&completed] { ++completed; });
      });
    }
    started += 40;
    rt.reset();
    EXPECT_EQ(completed, started);
  }
}

}  // namespace

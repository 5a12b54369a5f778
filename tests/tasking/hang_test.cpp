// SPDX-License-Identifier: Apache-2.0
// Reports of a runtime in which nothing runs and tasks wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <creek/host.hpp>
#include <creek/tasking.hpp>

namespace creek::support {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

/// A runtime that notes its reports.
struct watched {
  std::atomic<int> reports{0};
  std::vector<waiting_task> seen;
  runtime rt;

  explicit watched(unsigned workers, std::chrono::nanoseconds limit = 20ms)
      : rt([&] {
          scheduler_options options;
          options.workers = workers;
          options.hang_limit = limit;
          options.on_hang = [this](std::span<const waiting_task> tasks) {
            seen.assign(tasks.begin(), tasks.end());
            ++reports;
            reports.notify_all();
          };
          return runtime{host(options)};
        }()) {}
};

class hangs : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, hangs, ::testing::Values(1U, 2U, 3U));

TEST_P(hangs, are_reported_once_with_the_tasks_and_what_they_wait_for) {
  watched all(GetParam());
  promise<int> last;
  future<int> wanted = last.get_future();
  future<int> child = all.rt.async([&] { return wanted.get() + 1; });
  watched inner(GetParam());
  std::thread parent(
      [&] { EXPECT_EQ(all.rt.run([&] { return inner.rt.run([&] { return child.get(); }); }), 3); });
  all.reports.wait(0);
  inner.reports.wait(0);
  ASSERT_EQ(all.seen.size(), 2U) << to_string(all.seen);
  const std::string text = to_string(all.seen);
  EXPECT_THAT(text, HasSubstr("for a future: not known who fulfils it\n"));
  EXPECT_THAT(text, HasSubstr("for the end of run() of another runtime\n"));
  EXPECT_THAT(text, HasSubstr("hangs_are_reported"));  // where the closure was written
  EXPECT_THAT(text, Not(HasSubstr("async_state")));
  for (const waiting_task& each : all.seen) EXPECT_GE(each.waited, 20ms);
  last.set_value(2);
  parent.join();
  EXPECT_TRUE(all.rt.waiting().empty());
  // Never again in this runtime.
  promise<void> again;
  future<void> end = all.rt.async([more = again.get_future()]() mutable { more.get(); });
  while (all.rt.waiting().empty() || all.rt.waiting().front().waited < 60ms) {
    std::this_thread::yield();
  }
  again.set_value();
  end.get();
  EXPECT_EQ(all.reports, 1);
}

TEST_P(hangs, can_be_looked_at_at_any_time) {
  watched all(GetParam(), 0ns);
  promise<void> last;
  future<void> done = all.rt.async([wanted = last.get_future()]() mutable { wanted.get(); });
  while (all.rt.waiting().empty()) std::this_thread::yield();
  EXPECT_EQ(all.rt.waiting().front().what, "a future");
  last.set_value();
  done.get();
  EXPECT_EQ(all.reports, 0);
}

TEST_P(hangs, are_none_while_a_wait_has_a_deadline) {
  watched all(GetParam(), 5ms);
  promise<void> last;
  future<void> wanted = last.get_future();
  EXPECT_EQ(all.rt.run([&] { return wanted.wait_for(100ms); }), std::future_status::timeout);
  EXPECT_EQ(all.reports, 0);
  std::thread parent([&] { all.rt.run([&] { wanted.get(); }); });
  all.reports.wait(0);
  last.set_value();
  parent.join();
}

TEST_P(hangs, may_be_ended_by_whom_they_are_reported_to) {
  scheduler_options options;
  options.workers = GetParam();
  options.hang_limit = 1ms;
  promise<int> last;
  options.on_hang = [&](std::span<const waiting_task>) { last.set_value(20); };
  runtime rt{host(options)};
  future<int> more = last.get_future().then([](int value) { return value + 1; });
  EXPECT_EQ(rt.run([&] { return more.get() + 1; }), 22);
}

TEST(hang_reports, never_come_with_a_limit_without_end) {
  watched all(1, std::chrono::nanoseconds::max());
  promise<void> last;
  future<void> done = all.rt.async([wanted = last.get_future()]() mutable { wanted.get(); });
  while (all.rt.waiting().empty()) std::this_thread::yield();
  last.set_value();
  done.get();
  EXPECT_EQ(all.reports, 0);
}

TEST(hang_reports, do_not_come_while_a_call_blocks) {
  watched all(1, 1ms);
  std::atomic<bool> may_end{false};
  future<int> called = all.rt.async([&] {
    return blocking([&] {
      may_end.wait(false);
      return 6;
    });
  });
  while (all.rt.waiting().empty() || all.rt.waiting().front().waited < 50ms)
    std::this_thread::yield();
  EXPECT_THAT(to_string(all.rt.waiting()), HasSubstr("for a call that blocks"));
  EXPECT_EQ(all.reports, 0);
  may_end = true;
  may_end.notify_one();
  EXPECT_EQ(called.get(), 6);
}

TEST(hang_reports, are_written_to_standard_error) {
  scheduler_options options;
  options.workers = 1;
  options.hang_limit = 1ms;
  ::testing::internal::CaptureStderr();
  {
    runtime rt{host(options)};
    promise<void> last;
    future<void> done = rt.async([wanted = last.get_future()]() mutable { wanted.get(); });
    while (rt.waiting().empty() || rt.waiting().front().waited < 50ms) std::this_thread::yield();
    last.set_value();
    done.get();
  }
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("creek: nothing has run for 0.001 s while 1 tasks wait"));
}

TEST(hang_reports, have_the_longest_wait_first_and_an_end) {
  const std::vector<waiting_task> tasks{
      {"a", "a future", 1ms}, {"b", "a future", 3s}, {"c", "a call", 2s}};
  EXPECT_EQ(to_string(tasks, 2),
            "b: has waited 3.000 s for a future\nc: has waited 2.000 s for a call\nand 1 more\n");
  EXPECT_EQ(to_string(std::vector<waiting_task>{}), "");
}

}  // namespace
}  // namespace creek::support

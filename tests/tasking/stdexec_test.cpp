// SPDX-License-Identifier: Apache-2.0
// The algorithms of stdexec on the workers of a runtime; built where its headers are
// (CREEK_STDEXEC_SOURCE).
#include <gtest/gtest.h>

#include <atomic>
#include <exec/async_scope.hpp>
#include <exec/task.hpp>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <creek/host.hpp>
#include <creek/tasking.hpp>
#include <creek/tasking/stdexec.hpp>

namespace {

using schedule_sender = decltype(std::declval<creek::stdexec_scheduler>().schedule());
using future_sender = decltype(creek::as_stdexec_sender(std::declval<creek::future<int>>()));

static_assert(stdexec::scheduler<creek::stdexec_scheduler>);
static_assert(stdexec::sender_in<schedule_sender, stdexec::env<>>);
static_assert(stdexec::sender_in<future_sender, stdexec::env<>>);
static_assert(stdexec::sender_of<schedule_sender, stdexec::set_value_t()>);
static_assert(stdexec::sender_of<future_sender, stdexec::set_value_t(int)>);
static_assert(!stdexec::sender<decltype(std::declval<creek::task_scheduler>().schedule())>,
              "each set of words has its own types");

class Stdexec : public testing::TestWithParam<std::string> {
 protected:
  creek::runtime rt{creek::scheduler_options{.workers = 3}, GetParam()};
  creek::stdexec_scheduler workers = creek::get_stdexec_scheduler(rt);

  bool is_here() const { return creek::get_stdexec_scheduler() == workers; }
};
INSTANTIATE_TEST_SUITE_P(on, Stdexec, testing::ValuesIn(creek::backends()),
                         [](const auto& info) { return info.param; });

TEST_P(Stdexec, RunsAChainOnTheWorkers) {
  auto chain = stdexec::schedule(workers) | stdexec::then([this] {
                 EXPECT_TRUE(is_here());
                 const auto [a, b] = creek::fork_join([] { return 20; }, [] { return 22; });
                 return a + b;
               });
  const auto [answer] = stdexec::sync_wait(std::move(chain)).value();
  EXPECT_EQ(answer, 42);
}

TEST_P(Stdexec, MovesBetweenContexts) {
  auto chain = stdexec::just(1) | stdexec::continues_on(workers) | stdexec::then([this](int value) {
                 EXPECT_TRUE(is_here());
                 return value + 1;
               });
  EXPECT_EQ(std::get<0>(stdexec::sync_wait(std::move(chain)).value()), 2);
  auto started =
      stdexec::starts_on(workers, stdexec::just() | stdexec::then([this] { return is_here(); }));
  EXPECT_TRUE(std::get<0>(stdexec::sync_wait(std::move(started)).value()));
  auto there = stdexec::on(workers, stdexec::just() | stdexec::then([this] { return is_here(); }));
  EXPECT_TRUE(std::get<0>(stdexec::sync_wait(std::move(there)).value()));
}

TEST_P(Stdexec, NamesItsCompletionScheduler) {
  const auto sender = stdexec::schedule(workers);
  EXPECT_EQ(stdexec::get_completion_scheduler<stdexec::set_value_t>(stdexec::get_env(sender)),
            workers);
}

TEST_P(Stdexec, JoinsSeveral) {
  const auto square = [this](int value) {
    return stdexec::starts_on(
        workers, stdexec::just(value) | stdexec::then([](int given) { return given * given; }));
  };
  auto all = stdexec::when_all(square(3), square(4), square(5));
  EXPECT_EQ(stdexec::sync_wait(std::move(all)).value(), std::make_tuple(9, 16, 25));
}

TEST_P(Stdexec, RunsBulk) {
  std::vector<std::atomic<int>> hits(1000);
  auto bulk = stdexec::schedule(workers) |
              stdexec::bulk(stdexec::par, hits.size(), [&](std::size_t i) { ++hits[i]; });
  stdexec::sync_wait(std::move(bulk));
  for (const auto& each : hits) EXPECT_EQ(each, 1);
}

TEST_P(Stdexec, PassesExceptionsOn) {
  auto failing =
      stdexec::schedule(workers) | stdexec::then([]() -> int { throw std::runtime_error("no"); });
  EXPECT_THROW(stdexec::sync_wait(std::move(failing)), std::runtime_error);
}

TEST_P(Stdexec, IsStopped) {
  stdexec::inplace_stop_source stop;
  stop.request_stop();
  auto stopped = stdexec::write_env(stdexec::schedule(workers),
                                    stdexec::prop{stdexec::get_stop_token, stop.get_token()});
  EXPECT_FALSE(stdexec::sync_wait(std::move(stopped)));
}

TEST_P(Stdexec, WaitsForFutures) {
  auto sum = stdexec::when_all(creek::as_stdexec_sender(rt.async([] { return 1; })),
                               creek::as_stdexec_sender(rt.async([] { return 2; }))) |
             stdexec::then([](int a, int b) { return a + b; });
  EXPECT_EQ(std::get<0>(stdexec::sync_wait(std::move(sum)).value()), 3);
  auto failing = creek::as_stdexec_sender(rt.async([] { throw std::runtime_error("no"); }));
  EXPECT_THROW(stdexec::sync_wait(std::move(failing)), std::runtime_error);
}

TEST_P(Stdexec, BecomesAFuture) {
  auto chain = stdexec::schedule(workers) | stdexec::then([] { return std::string("text"); });
  creek::future<std::string> text = creek::as_future(std::move(chain));
  EXPECT_EQ(text.get(), "text");
  creek::future<std::tuple<int, char>> several = creek::as_future(stdexec::just(1, 'c'));
  EXPECT_EQ(several.get(), std::make_tuple(1, 'c'));
  EXPECT_THROW(creek::as_future(stdexec::just_stopped()).get(), creek::cancelled);
  EXPECT_THROW(creek::as_future(stdexec::just_error(1)).get(), int);
  // On a worker the wait lets others run.
  const int on_worker = rt.run([this] {
    return creek::as_future(stdexec::schedule(workers) | stdexec::then([] { return 3; })).get();
  });
  EXPECT_EQ(on_worker, 3);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(creek::as_future(stdexec::schedule(workers), stop.get_token()).get(),
               creek::cancelled);
}

TEST_P(Stdexec, FillsAScope) {
  std::atomic<int> sum{0};
  exec::async_scope scope;
  for (int i = 1; i <= 100; ++i) {
    scope.spawn(stdexec::schedule(workers) | stdexec::then([&sum, i] { sum += i; }));
  }
  stdexec::sync_wait(scope.on_empty());
  EXPECT_EQ(sum, 5050);
}

TEST_P(Stdexec, RunsCoroutines) {
  const auto twice = [](creek::stdexec_scheduler on, creek::future<int> given) -> exec::task<int> {
    const int value = co_await creek::as_stdexec_sender(std::move(given));
    co_await stdexec::schedule(on);
    co_return 2 * value;
  };
  auto doubled = twice(workers, rt.async([] { return 21; }));
  EXPECT_EQ(std::get<0>(stdexec::sync_wait(std::move(doubled)).value()), 42);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Boost.Asio on the workers of a runtime, on every backend; and the example of a server, asked by
// many clients.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio.hpp>

#include <creek/tasking.hpp>
#include <creek/tasking/asio.hpp>

#include "prime_server/prime_server.hpp"

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using asio::ip::tcp;

static_assert(asio::execution::is_executor_v<creek::asio_executor>);
static_assert(std::is_convertible_v<creek::asio_executor, asio::any_io_executor>);
static_assert(asio::execution::context_as_t<asio::execution_context&>::is_applicable_property_v<
              creek::asio_executor>);
static_assert(std::is_nothrow_copy_constructible_v<creek::asio_executor>);
static_assert(asio::can_require_v<creek::asio_executor, asio::execution::blocking_t::never_t>);
static_assert(!asio::can_require_v<creek::asio_executor, asio::execution::blocking_t::always_t>);

class Asio : public testing::TestWithParam<std::string> {
 protected:
  creek::runtime rt{creek::scheduler_options{.workers = 3}, GetParam()};
  creek::asio_context context{rt};
  creek::asio_executor workers = context.get_executor();
};
INSTANTIATE_TEST_SUITE_P(on, Asio, testing::ValuesIn(creek::backends()),
                         [](const auto& info) { return info.param; });

TEST_P(Asio, RunsFunctionsOnWorkers) {
  std::promise<int> posted, dispatched, deferred, nested, by_any;
  asio::post(workers, [&] {
    posted.set_value(creek::this_worker());
    asio::post(workers, [&] { nested.set_value(creek::this_worker()); });
  });
  asio::dispatch(workers, [&] { dispatched.set_value(creek::this_worker()); });
  asio::defer(workers, [&] { deferred.set_value(creek::this_worker()); });
  const asio::any_io_executor any = workers;
  asio::post(any, [&, moved = std::make_unique<int>(1)] {
    by_any.set_value(*moved + creek::this_worker());
  });
  for (auto* each : {&posted, &dispatched, &deferred, &nested, &by_any}) {
    EXPECT_GE(each->get_future().get(), each == &by_any ? 1 : 0);
  }
}

TEST_P(Asio, IsAContextAsAnyOther) {
  EXPECT_EQ(workers, context.get_executor());
  creek::asio_context other(rt);
  EXPECT_NE(workers, other.get_executor());
  EXPECT_EQ(&asio::query(workers, asio::execution::context), &context);
  EXPECT_EQ(asio::query(workers, asio::execution::blocking), asio::execution::blocking.never);
  // Asio prefers to run functions at once, and the executor refuses.
  EXPECT_EQ(asio::prefer(workers, asio::execution::blocking.possibly), workers);
  const auto tracked = asio::require(workers, asio::execution::outstanding_work.tracked);
  EXPECT_EQ(asio::require(tracked, asio::execution::outstanding_work.untracked), workers);
  std::promise<void> ran;
  asio::post(context, [&] { ran.set_value(); });
  ran.get_future().get();
}

TEST_P(Asio, FunctionsAreTasks) {
  std::promise<long> sum;
  asio::post(workers, [&] {
    const auto [a, b] = creek::fork_join([] { return 1; }, [] { return 2; });
    sum.set_value(creek::parallel_reduce(0L, 1000L, 0L, std::identity{}, std::plus<>{}) +
                  creek::async([a = a, b = b] { return a + b; }).get());
  });
  EXPECT_EQ(sum.get_future().get(), 499503);
}

TEST_P(Asio, BindsHandlersOfAnIoContext) {
  asio::io_context io;
  asio::steady_timer timer(io, 1ms);
  std::promise<int> worker;
  timer.async_wait(asio::bind_executor(workers, [&](boost::system::error_code failure) {
    worker.set_value(failure ? -2 : creek::this_worker());
  }));
  io.run();
  EXPECT_GE(worker.get_future().get(), 0);
}

TEST_P(Asio, HasTimersOfItsOwn) {
  asio::steady_timer timer(workers, 1ms);
  std::promise<int> worker;
  timer.async_wait([&](boost::system::error_code failure) {
    worker.set_value(failure ? -2 : creek::this_worker());
  });
  EXPECT_GE(worker.get_future().get(), 0);
}

#if defined(BOOST_ASIO_HAS_CO_AWAIT)
TEST_P(Asio, RunsCoroutines) {
  const auto waits = [&]() -> asio::awaitable<int> {
    asio::steady_timer timer(co_await asio::this_coro::executor, 1ms);
    co_await timer.async_wait(asio::use_awaitable);
    const int answer = creek::async([] { return 42; }).get();
    co_return creek::this_worker() >= 0 ? answer : -1;
  };
  EXPECT_EQ(asio::co_spawn(workers, waits, asio::use_future).get(), 42);
}
#endif

TEST_P(Asio, StrandsTakeTurns) {
  constexpr int rounds = 200;
  const auto strand = asio::make_strand(workers);
  int sum = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 2; ++thread) {
      threads.emplace_back([&] {
        for (int i = 0; i < rounds; ++i) asio::post(strand, [&] { ++sum; });
      });
    }
    rt.run([&] {
      for (int i = 0; i < rounds; ++i) asio::dispatch(strand, [&] { ++sum; });
    });
  }
  context.join();
  EXPECT_EQ(sum, 3 * rounds);
}

TEST_P(Asio, JoinWaitsForAllThatFollows) {
  std::atomic<int> ended{0};
  struct chain {
    std::atomic<int>& ended;
    creek::asio_executor on;
    int length;
    void operator()() const {
      ++ended;
      if (length > 1) asio::post(on, chain{ended, on, length - 1});
    }
  };
  for (int i = 0; i < 10; ++i) asio::post(workers, chain{ended, workers, 20});
  rt.run([&] { context.join(); });
  EXPECT_EQ(ended, 200);
}

TEST_P(Asio, JoinWaitsForWorkGuardsAndOperations) {
  std::atomic<bool> is_over{false};
  asio::steady_timer timer(workers, 1h);
  timer.async_wait([&](boost::system::error_code failure) {
    EXPECT_EQ(failure, asio::error::operation_aborted);
    EXPECT_TRUE(is_over);
  });
  auto guard = asio::make_work_guard(workers);
  const std::jthread ends([&] {
    is_over = true;
    timer.cancel();
    guard.reset();
  });
  context.join();
  EXPECT_TRUE(is_over);
}

TEST_P(Asio, DestroysFunctionsBeforeJoinReturns) {
  auto held = std::make_shared<std::atomic<int>>(0);
  for (int i = 0; i < 100; ++i) asio::post(workers, [held] { ++*held; });
  context.join();
  EXPECT_EQ(*held, 100);
  EXPECT_EQ(held.use_count(), 1);
}

TEST_P(Asio, ReportsExceptions) {
  testing::internal::CaptureStderr();
  asio::post(workers, [] { throw std::runtime_error("lost"); });
  context.join();
  rt.shut_down();
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "creek: a task's exception was dropped: lost\n");
}

TEST(AsioOnOneWorker, AFunctionThatPostsItselfLetsOthersRun) {
  creek::runtime rt{creek::scheduler_options{.workers = 1}};
  creek::asio_context context(rt);
  const creek::asio_executor worker = context.get_executor();
  std::atomic<bool> others_ran{false};
  struct again {
    std::atomic<bool>& others_ran;
    creek::asio_executor on;
    void operator()() const {
      if (!others_ran) asio::post(on, *this);
    }
  };
  asio::post(worker, again{others_ran, worker});
  asio::post(worker, [&] { others_ran = true; });
  context.join();
  EXPECT_TRUE(others_ran);
}

TEST(AsioOnOneWorker, NeverRunsAFunctionInItsCaller) {
  creek::runtime rt{creek::scheduler_options{.workers = 1}};
  creek::asio_context context(rt);
  const creek::asio_executor worker = context.get_executor();
  rt.run([&] {
    bool has_run = false;
    creek::promise<void> ended;
    asio::dispatch(worker, [&] {
      has_run = true;
      ended.set_value();
    });
    EXPECT_FALSE(has_run);
    ended.get_future().get();
    EXPECT_TRUE(has_run);
  });
}

/// A client of the server below.
class client {
 public:
  explicit client(unsigned short port) : stream_("127.0.0.1", std::to_string(port)) {}
  /// Returns the answer, or "gone" if the server has closed the connection.
  std::string ask(const std::string& line) {
    stream_ << line << '\n' << std::flush;
    std::string answer;
    return std::getline(stream_, answer) ? answer : "gone";
  }

 private:
  tcp::iostream stream_;
};

TEST(PrimeServer, AnswersManyClientsAtOnce) {
  constexpr int greatest = 20'000;
  std::vector<int> primes_below(greatest + 1, 0);
  std::vector<bool> is_composite(greatest + 1, false);
  for (int n = 2; n < greatest; ++n) {
    primes_below[static_cast<std::size_t>(n) + 1] =
        primes_below[static_cast<std::size_t>(n)] +
        (is_composite[static_cast<std::size_t>(n)] ? 0 : 1);
    for (int m = 2 * n; m <= greatest; m += n) is_composite[static_cast<std::size_t>(m)] = true;
  }
  creek::runtime rt{creek::scheduler_options{.workers = 3}};
  std::atomic<int> right{0};
  {
    const prime_server::server server(rt);
    std::vector<std::jthread> clients;
    for (int number = 0; number < 8; ++number) {
      clients.emplace_back([&, number] {
        client asking(server.port());
        for (int i = 0; i < 20; ++i) {
          const int end = (number * 7919 + i * 977) % (greatest + 1);
          const auto expected = std::to_string(primes_below[static_cast<std::size_t>(end)]);
          if (asking.ask(std::to_string(end)) == expected) ++right;
        }
      });
    }
    clients.clear();
  }
  EXPECT_EQ(right, 160);
}

TEST(PrimeServer, RefusesWhatIsNoNumberAndEndlessLines) {
  creek::runtime rt{creek::scheduler_options{.workers = 2}};
  const prime_server::server server(rt);
  client asking(server.port());
  EXPECT_EQ(asking.ask("ten"), "send a number from 0 to 10000000");
  EXPECT_EQ(asking.ask("-1"), "send a number from 0 to 10000000");
  EXPECT_EQ(asking.ask(""), "send a number from 0 to 10000000");
  EXPECT_EQ(asking.ask("10\n"), "4");
  EXPECT_EQ(client(server.port()).ask(std::string(1000, '9')), "gone");
}

}  // namespace

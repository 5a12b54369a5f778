// SPDX-License-Identifier: Apache-2.0
// Futures as senders, senders as futures, and all operations at once, on every backend.
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <vector>

#include <creek/tasking/sender.hpp>

#include "receivers.hpp"
#include "setups.hpp"

namespace {

using namespace conformance;

class FutureSender : public Conformance {};
CONFORMANCE(FutureSender);

using future_sender = decltype(creek::as_sender(std::declval<creek::future<int>>()));

static_assert(execution::sender<future_sender>);
static_assert(execution::sender_to<future_sender, receiver>);
static_assert(!execution::sender_to<future_sender&, receiver>, "its result is moved out");

TEST_P(FutureSender, SendsTheResultOfAFuture) {
  on_each_runtime([](creek::runtime& rt) {
    const auto expect_sent = [&](bool in_runtime) {
      outcome ready, late, failing, nothing;
      auto at_once = creek::as_sender(creek::make_ready_future(3)).connect(receiver{&ready});
      at_once.start();
      EXPECT_EQ(ready.value, 3) << "it completes in start()";
      creek::promise<int> promise;
      auto waiting = creek::as_sender(promise.get_future()).connect(receiver{&late});
      waiting.start();
      EXPECT_EQ(late.values, 0);
      std::jthread([&] { promise.set_value(4); }).join();
      late.wait();
      EXPECT_EQ(late.value, 4);
      EXPECT_EQ(late.worker >= 0, in_runtime) << "it completes where it was started";
      auto thrown =
          creek::as_sender(rt.async([]() -> int { throw failure{5}; })).connect(receiver{&failing});
      thrown.start();
      failing.wait();
      EXPECT_EQ(failing.errors, 1);
      EXPECT_EQ(failing.number, 5);
      auto ended = creek::as_sender(rt.async([] {})).connect(receiver{&nothing});
      ended.start();
      nothing.wait();
      EXPECT_EQ(nothing.values, 1);
    };
    expect_sent(false);
    rt.run([&] { expect_sent(true); });
    creek::future<int> none;
    EXPECT_THROW(creek::as_sender(std::move(none)), creek::usage_error);
  });
}

TEST_P(FutureSender, AStopEndsOnlyFuturesThatWereNotAwaitedYet) {
  std::stop_source stop;
  stop.request_stop();
  outcome stopped, ready;
  creek::promise<int> never;
  auto first = creek::as_sender(never.get_future()).connect(receiver{&stopped, stop.get_token()});
  first.start();
  EXPECT_EQ(stopped.stops, 1);
  auto second =
      creek::as_sender(creek::make_ready_future(1)).connect(receiver{&ready, stop.get_token()});
  second.start();
  EXPECT_EQ(ready.value, 1) << "a result that is there goes first";
}

TEST_P(FutureSender, BecomesAFuture) {
  on_each_runtime([](creek::runtime& rt) {
    const creek::task_scheduler scheduler = creek::get_scheduler(rt);
    const auto expect_futures = [&] {
      creek::future<void> scheduled = creek::as_future(scheduler.schedule());
      scheduled.get();
      creek::future<int> sent = creek::as_future(creek::as_sender(rt.async([] { return 7; })));
      EXPECT_EQ(sent.get(), 7);
      auto failing =
          creek::as_future(creek::as_sender(rt.async([]() -> int { throw failure{8}; })));
      EXPECT_EQ(failure_of([&] { failing.get(); }), 8);
      std::stop_source stop;
      stop.request_stop();
      EXPECT_THROW(creek::as_future(scheduler.schedule(), stop.get_token()).get(),
                   creek::cancelled);
      auto more = creek::when_all(creek::as_future(scheduler.schedule()),
                                  creek::as_future(scheduler.schedule()))
                      .then([](auto) { return 9; });
      EXPECT_EQ(more.get(), 9);
    };
    expect_futures();
    rt.run(expect_futures);
  });
}

/// Sends `Values`, or completes in another way, when it is started.
template <class... Values>
struct sends {
  using sender_concept = execution::sender_tag;
  using completion_signatures = execution::completion_signatures<
      execution::set_stopped_t(), execution::set_value_t(Values...),
      execution::set_error_t(std::error_code), execution::set_error_t(int)>;
  enum class way { value, code, number, stop };

  template <class Receiver>
  struct operation {
    using operation_state_concept = execution::operation_state_tag;
    void start() & noexcept {
      switch (chosen) {
        case way::value:
          return std::apply([&](auto&... value) { std::move(to).set_value(std::move(value)...); },
                            values);
        case way::code:
          return std::move(to).set_error(std::make_error_code(std::errc::timed_out));
        case way::number:
          return std::move(to).set_error(5);
        case way::stop:
          return std::move(to).set_stopped();
      }
    }
    way chosen;
    std::tuple<Values...> values;
    Receiver to;
  };
  template <class Receiver>
  operation<Receiver> connect(Receiver to) && {
    return {chosen, std::move(values), std::move(to)};
  }

  way chosen;
  std::tuple<Values...> values;
};

TEST_P(FutureSender, OfAnyKindBecomesAFuture) {
  using text_and_number = sends<std::string, int>;
  using way = text_and_number::way;
  const auto started = [](way chosen) {
    return creek::as_future(text_and_number{chosen, {"two", 2}});
  };
  EXPECT_EQ(started(way::value).get(), std::make_tuple(std::string("two"), 2));
  try {
    started(way::code).get();
    ADD_FAILURE() << "no exception";
  } catch (const std::system_error& failure) {
    EXPECT_EQ(failure.code(), std::errc::timed_out);
  }
  EXPECT_THROW(started(way::number).get(), int);
  EXPECT_THROW(started(way::stop).get(), creek::cancelled);
  testing::internal::CaptureStderr();
  static_cast<void>(started(way::stop));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "a stop that nobody sees is no error";
  EXPECT_EQ(*creek::as_future(sends<std::unique_ptr<int>>{sends<std::unique_ptr<int>>::way::value,
                                                          {std::make_unique<int>(3)}})
                 .get(),
            3);
}

TEST_P(FutureSender, ItsOperationEndsBeforeTheFutureIsReady) {
  on_each_runtime([](creek::runtime& rt) {
    std::atomic<int> alive{0};
    for (int i = 0; i < 100; ++i) {
      auto held = std::make_shared<counted>(alive);
      auto future =
          creek::as_future(creek::as_sender(rt.async([held = std::move(held)] { return held; })));
      future.wait();
      EXPECT_EQ(alive, 1);
      EXPECT_EQ(future.get().use_count(), 1) << "neither the task nor the operation holds it";
      EXPECT_EQ(alive, 0);
    }
  });
}

/// Operations of every kind, started and completed by threads and tasks at the same time; each
/// completes exactly once.
TEST_P(FutureSender, CompletesOnceWhoeverMeets) {
  const auto number_from = [](const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
  };
  const std::uint64_t seed = number_from("CREEK_TEST_SEED", std::random_device{}());
  const std::uint64_t rounds = number_from("CREEK_TEST_ROUNDS", is_simulated() ? 20 : 100);
  std::cout << "replay with CREEK_TEST_SEED=" << seed << "\n";
  std::uint64_t started = 0;
  std::atomic<std::uint64_t> completed{0};
  for (const creek::scheduler_options& options : variants(GetParam())) {
    SCOPED_TRACE(describe(options));
    std::optional<creek::runtime> rt(make_runtime(options, GetParam().backend));
    const creek::task_scheduler scheduler = creek::get_scheduler(*rt);
    const auto work = [&](std::uint64_t stream) {
      std::mt19937_64 random(seed + stream);
      for (std::uint64_t round = 0; round < rounds; ++round) {
        switch (random() % 5) {
          case 0:
            start_detached(scheduler.schedule(), [&] { ++completed; });
            break;
          case 1: {
            std::stop_source stop;
            outcome seen;
            auto running = scheduler.schedule().connect(receiver{&seen, stop.get_token()});
            running.start();
            if (random() % 2 == 0) stop.request_stop();
            seen.wait();
            completed += static_cast<std::uint64_t>(seen.values + seen.stops);
            break;
          }
          case 2:
            creek::as_future(scheduler.schedule()).get();
            ++completed;
            break;
          case 3: {
            auto promise = std::make_shared<creek::promise<void>>();
            start_detached(creek::as_sender(promise->get_future()), [&] { ++completed; });
            start_detached(scheduler.schedule(), [promise] { promise->set_value(); });
            break;
          }
          default:
            start_detached(scheduler.schedule(), [&, scheduler] {
              start_detached(scheduler.schedule(), [&] { ++completed; });
              creek::spawn([] { fib(3); });
            });
        }
      }
    };
    {
      std::vector<std::jthread> threads;
      for (std::uint64_t stream = 0; stream < 2; ++stream) threads.emplace_back(work, stream);
      rt->run([&] { work(2); });
    }
    started += 3 * rounds;
    rt.reset();
    EXPECT_EQ(completed, started);
  }
}

}  // namespace

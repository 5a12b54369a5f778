// SPDX-License-Identifier: Apache-2.0
// Schedulers, senders and receivers: how and where operations complete, on every backend.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <vector>

#include <creek/tasking/sender.hpp>

#include "setups.hpp"
#include "support/process_facts.hpp"

namespace {

/// Allocations of this thread. A sanitizer keeps its own functions.
thread_local constinit unsigned long allocations = 0;

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* made = std::malloc(bytes)) return made;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* gone) noexcept {
  std::free(gone);
}
[[gnu::noinline]] void operator delete(void* gone, std::size_t) noexcept {
  std::free(gone);
}
#endif

namespace {

using namespace conformance;
namespace execution = creek::execution;

class Sender : public Conformance {};
CONFORMANCE(Sender);

/// Records how an operation completed.
struct outcome {
  int values = 0;
  int errors = 0;
  int stops = 0;
  int worker = -1;  ///< on which it completed
  int value = 0;
  int number = -1;  ///< of the failure
  creek::promise<void> promise;
  creek::future<void> done = promise.get_future();

  void wait() const { done.wait(); }
};

struct receiver {
  using receiver_concept = execution::receiver_tag;
  struct environment {
    std::stop_token stop;
    std::stop_token query(execution::get_stop_token_t) const noexcept { return stop; }
  };
  void finish() noexcept {
    to->worker = creek::this_worker();
    to->promise.set_value();
  }
  void set_value() noexcept {
    ++to->values;
    finish();
  }
  void set_value(int value) noexcept {
    to->value = value;
    set_value();
  }
  void set_error(std::exception_ptr why) noexcept {
    ++to->errors;
    to->number = failure_of([&] { std::rethrow_exception(std::move(why)); });
    finish();
  }
  void set_stopped() noexcept {
    ++to->stops;
    finish();
  }
  environment get_env() const noexcept { return {stop}; }

  outcome* to;
  std::stop_token stop = {};
};

/// A receiver that calls `function`, whatever comes. Has no environment.
template <class F>
struct calling {
  using receiver_concept = execution::receiver_tag;
  void set_value() noexcept { function(); }
  void set_error(const std::exception_ptr&) noexcept { function(); }
  void set_stopped() noexcept { function(); }

  F function;
};

/// Starts an operation on the heap, which is destroyed in its completion, before function() is
/// called.
template <class From, class F>
void start_detached(From&& from, F function) {
  struct itself {
    virtual ~itself() = default;
  };
  struct run_and_delete {
    itself* self;
    F function;
    void operator()() {
      F last = std::move(function);
      delete self;
      last();
    }
  };
  using operation = decltype(std::declval<From>().connect(std::declval<calling<run_and_delete>>()));
  struct owner final : itself {
    owner(From&& sender, F f)
        : running(
              std::forward<From>(sender).connect(calling<run_and_delete>{{this, std::move(f)}})) {}
    operation running;
  };
  auto* made = new owner(std::forward<From>(from), std::move(function));
  made->running.start();
}

using schedule_sender = decltype(std::declval<creek::task_scheduler>().schedule());
using operation = decltype(std::declval<schedule_sender>().connect(std::declval<receiver>()));
using future_sender = decltype(creek::as_sender(std::declval<creek::future<int>>()));

static_assert(execution::scheduler<creek::task_scheduler>);
static_assert(execution::sender<schedule_sender> && execution::sender<future_sender>);
static_assert(execution::receiver<receiver>);
static_assert(execution::sender_to<schedule_sender, receiver>);
static_assert(execution::sender_to<future_sender, receiver>);
static_assert(!execution::sender_to<future_sender&, receiver>, "its result is moved out");
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
      const unsigned long before = allocations;
      auto running = scheduler.schedule().connect(receiver{&seen});
      running.start();
      EXPECT_EQ(allocations, before);
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

TEST_P(Sender, SendsTheResultOfAFuture) {
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

TEST_P(Sender, AStopEndsOnlyFuturesThatWereNotAwaitedYet) {
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

TEST_P(Sender, BecomesAFuture) {
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

TEST_P(Sender, OfAnyKindBecomesAFuture) {
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

TEST_P(Sender, ItsOperationEndsBeforeTheFutureIsReady) {
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
TEST_P(Sender, CompletesOnceWhoeverMeets) {
  const auto number_from = [](const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
  };
  const std::uint64_t seed = number_from("CREEK_TEST_SEED", std::random_device{}());
  const std::uint64_t rounds =
      number_from("CREEK_TEST_ROUNDS", GetParam().backend == "scc" ? 20 : 100);
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

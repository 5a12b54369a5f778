// SPDX-License-Identifier: Apache-2.0
// Cases of objects on workers of ranks for any communicator: each rank runs every case, and has a
// runtime of its own with two workers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <future>
#include <map>
#include <mutex>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/core/objects/object_space.hpp>
#include <creek/host.hpp>
#include <creek/tasking/fork_join.hpp>
#include <creek/tasking/spawn.hpp>
#include <creek/tasking/this_worker.hpp>
#include <creek/tasking/worker_objects.hpp>

#include "../support/seed.hpp"

namespace creek::worker_objects_cases {

inline constexpr int workers_per_rank = 2;

template <class Failure>
std::string what_of(const auto& call) {
  try {
    call();
  } catch (const Failure& why) {
    return why.what();
  }
  return "nothing thrown";
}

/// Events by number, in this process: ranks that are threads of one process choose others.
class events {
 public:
  static void set(std::uint64_t number) { of(number).set_value(); }
  /// Throws if the event does not come: as when the thread that is to set it waits here.
  static void wait(std::uint64_t number) {
    if (of(number).get_future().wait_for(std::chrono::seconds(100)) != std::future_status::ready) {
      throw std::runtime_error("an event did not come");
    }
  }
  /// Returns a number that no other rank or call of this gets.
  static std::uint64_t next(const object_space& space) {
    static std::atomic<std::uint64_t> made{0};
    return static_cast<std::uint64_t>(space.rank()) << 32 | made++;
  }

 private:
  static std::promise<void>& of(std::uint64_t number) {
    static std::mutex mutex;
    static std::map<std::uint64_t, std::promise<void>> all;
    const std::lock_guard lock(mutex);
    return all[number];
  }
};

struct account {
  std::string owner;
  long balance = 0;
  std::vector<long> history{};

  long deposit(long amount) {
    history.push_back(amount);
    return balance += amount;
  }
  [[nodiscard]] int worker() const { return this_worker(); }
  void fail(int kind) {
    if (kind == 0) throw usage_error("do not do that");
    if (kind == 1) throw error(ENOENT, "input.txt");
    if (kind == 2) throw std::out_of_range("too far");
    throw kind;
  }
};

inline void charge(account& one, long fee) {
  one.balance -= fee;
}

inline void calls_objects(object_space& space) {
  for (int rank = 0; rank < space.size(); ++rank) {
    EXPECT_EQ(space.worker_count(rank), workers_per_rank);
    for (int worker = 0; worker < workers_per_rank; ++worker) {
      const auto a = space.make_on<account>({rank, worker}, "Ada", 5);
      EXPECT_EQ(a.rank(), rank);
      EXPECT_EQ(a.worker(), worker);
      EXPECT_EQ(a.call<&account::worker>(), worker);
      EXPECT_EQ(a.call<&account::deposit>(10), 15);
      EXPECT_EQ(a.call<&account::owner>(), "Ada");
      a.call<&charge>(3);
      auto first = a.async<&account::deposit>(1), second = a.async<&account::deposit>(2);
      EXPECT_EQ(second.get(), 15);
      EXPECT_EQ(first.get(), 13);
      a.post<&account::deposit>(5);
      EXPECT_EQ(a.call<&account::balance>(), 20);
      a.destroy();
      const auto gone = [&] { a.call<&account::balance>(); };
      EXPECT_EQ(what_of<usage_error>(gone), "a call of an object that was destroyed");
      a.post<&account::deposit>(5);  // dropped
      constexpr auto where = [](int add) { return this_worker() + add; };
      EXPECT_EQ(space.call_on<where>(worker_address{rank, worker}, 10), worker + 10);
    }
    // In the thread of the object space, beside them.
    EXPECT_EQ(space.make_on<account>(rank, "Bob", 1).call<&account::worker>(), -1);
  }
}

struct log_of_calls {
  std::vector<std::pair<int, int>> all;
  void add(int rank, int number, const std::string& padding) {
    all.emplace_back(rank, number + static_cast<int>(padding.size() % 2));
  }
};

/// All ranks call one object; calls of each begin in the order in which it made them.
inline void keeps_the_order_of_each_caller(object_space& space) {
  global_ref<log_of_calls> log;
  if (space.rank() == 0) log = space.make_on<log_of_calls>({space.size() - 1, 1});
  log = space.bcast(log, 0);
  std::vector<async_result<void>> begun;
  constexpr int calls = 300;
  for (int i = 0; i < calls; ++i) {
    const std::string padding(i % 40 == 7 ? 100'000 : 2, 'x');
    if (i % 3 == 0) begun.push_back(log.async<&log_of_calls::add>(space.rank(), i, padding));
    if (i % 3 == 1) log.post<&log_of_calls::add>(space.rank(), i, padding);
    if (i % 3 == 2) log.call<&log_of_calls::add>(space.rank(), i, padding);
  }
  for (auto& each : begun) each.get();
  space.barrier();
  std::vector<int> next(static_cast<std::size_t>(space.size()));
  for (const auto& [rank, number] : log.call<&log_of_calls::all>()) {
    EXPECT_EQ(number, next[static_cast<std::size_t>(rank)]++);
  }
  EXPECT_EQ(next, std::vector<int>(next.size(), calls));
  space.barrier();
}

struct careful {
  std::vector<std::string> failures{};
  void fail(int at) { throw std::runtime_error("at " + std::to_string(at)); }
  void on_post_failure(const std::exception_ptr& why) {
    failures.push_back(what_of<std::runtime_error>([&] { std::rethrow_exception(why); }));
  }
};

struct refuses {
  explicit refuses(int) { throw error(EPERM, "not here"); }
};

inline void passes_exceptions_on(object_space& space) {
  for (int rank = 0; rank < space.size(); ++rank) {
    const auto a = space.make_on<account>({rank, 1});
    const auto failing = [&](int kind) { return [&a, kind] { a.call<&account::fail>(kind); }; };
    EXPECT_EQ(what_of<usage_error>(failing(0)), "do not do that");
    EXPECT_EQ(what_of<error>(failing(1)), "input.txt: No such file or directory");
    EXPECT_EQ(what_of<call_error>(failing(2)), "too far");
    EXPECT_EQ(what_of<call_error>(failing(3)), "an exception that is no std::exception");
    { auto dropped = a.async<&account::fail>(2); }
    EXPECT_EQ(a.call<&account::deposit>(1), 1);
    const auto made = [&] { (void)space.make_on<refuses>({rank, 0}, 1); };
    EXPECT_EQ(what_of<error>(made), "not here: Operation not permitted");
    const auto c = space.make_on<careful>({rank, 0});
    c.post<&careful::fail>(1);
    c.post<&careful::fail>(2);
    EXPECT_EQ(c.call<&careful::failures>(), (std::vector<std::string>{"at 1", "at 2"}));
  }
  // Without a handler the receiver's next wait throws.
  space.barrier();
  const int last = space.size() - 1;
  if (space.rank() == 0) {
    constexpr auto fail = [](account&) { throw std::runtime_error("lost"); };
    space.make_on<account>({last, 0}).post<fail>();
  }
  if (space.rank() != last) return space.barrier();
  EXPECT_EQ(what_of<std::runtime_error>([&] { space.barrier(); }), "lost");
  space.barrier();
}

inline void tells_of_wrong_workers(object_space& space) {
  const int rank = space.size() - 1;
  const std::string of_rank = " of rank " + std::to_string(rank);
  const auto make = [&](int worker) {
    return what_of<usage_error>([&] { (void)space.make_on<account>({rank, worker}); });
  };
  EXPECT_EQ(make(2), "a call of worker 2" + of_rank + ", which has 0 to 1");
  EXPECT_EQ(make(-1), "a call of worker -1" + of_rank);
  constexpr auto nothing = [] {};
  const auto far = [&] { space.call_on<nothing>(worker_address{rank, 1 << 30}); };
  EXPECT_EQ(what_of<usage_error>(far),
            "a call of worker 1073741824" + of_rank + ", which has 0 to 1");
  const auto elsewhere = [&] { (void)space.make_on<account>({rank + 1, 0}); };
  EXPECT_NE(what_of<usage_error>(elsewhere), "nothing thrown");
  // A call of a worker cannot call other ranks.
  const auto a = space.make_on<account>({rank, 0});
  constexpr auto calls = [](account&) { object_space::current().barrier(); };
  const std::string text = what_of<usage_error>([&] { a.call<calls>(); });
  EXPECT_EQ(text.rfind("this thread has no object_space", 0), 0u) << text;
  constexpr auto calls_object = [](account&, global_ref<account> other) {
    return other.call<&account::balance>();
  };
  const auto through = [&] { a.call<calls_object>(a); };
  EXPECT_EQ(what_of<usage_error>(through), text);
}

struct waiter {
  void wait(std::uint64_t event) const { events::wait(event); }
  void set(std::uint64_t event) const { events::set(event); }
};

/// A call on a worker waits for one on another worker, and for one of the rank's own thread.
inline void runs_objects_at_the_same_time(object_space& space) {
  for (int rank = 0; rank < space.size(); ++rank) {
    const auto a = space.make_on<waiter>({rank, 0}), b = space.make_on<waiter>({rank, 1});
    const std::uint64_t first = events::next(space), second = events::next(space);
    auto waits = a.async<&waiter::wait>(first);
    auto next = a.async<&waiter::wait>(second);
    EXPECT_FALSE(waits.is_ready());
    b.call<&waiter::set>(first);
    waits.get();
    EXPECT_FALSE(next.is_ready());
    constexpr auto set = [](std::uint64_t event) { events::set(event); };
    space.call_on<set>(rank, second);
    next.get();
    // More calls than a worker has room for do not hold up the thread that receives them.
    const std::uint64_t third = events::next(space);
    std::vector<async_result<void>> many;
    many.push_back(a.async<&waiter::wait>(third));
    constexpr auto nothing = [](const waiter&) {};
    for (int i = 0; i < 6'000; ++i) many.push_back(a.async<nothing>());
    space.call_on<set>(rank, third);
    for (auto& each : many) each.get();
  }
}

struct exclusive {
  std::atomic<int> running{0};
  long calls = 0;
  long run() {
    if (running++ != 0) throw std::logic_error("two calls of one object at once");
    fork_join([] {}, [] {});
    ++calls;
    --running;
    return calls;
  }
};

/// Calls of one object run one at a time, also if they suspend; what they spawn belongs to them.
inline void runs_tasks_in_calls(object_space& space) {
  const auto all = space.make_on_all_workers<exclusive>();
  EXPECT_EQ(all.size(), space.size() * workers_per_rank);
  for (int i = 0; i < 50; ++i) all.post_all<&exclusive::run>();
  const auto calls = all.call_all<&exclusive::calls>();
  EXPECT_EQ(calls, std::vector<long>(calls.size(), 50));
  EXPECT_EQ(all.reduce<&exclusive::run>([](long a, long b) { return a + b; }), 51l * all.size());
  constexpr auto spawns = [](exclusive& self) {
    spawn([&self] { self.calls = -1; });
    return 7;
  };
  EXPECT_EQ(all[0].call<spawns>(), 7);
  EXPECT_EQ(all[0].call<&exclusive::calls>(), -1);
  constexpr auto fails_later = [](exclusive&) { spawn([] { throw error(EIO, "a task"); }); };
  EXPECT_EQ(what_of<error>([&] { all[0].call<fails_later>(); }), "a task: Input/output error");
  // Objects of this process, called by a call of another rank.
  constexpr auto through = [](exclusive&) {
    const auto other = creek::make_on<account>(core_id{1 - this_worker()});
    return other.call(&account::deposit, 7);
  };
  EXPECT_EQ(all[all.size() - 1].call<through>(), 7);
}

struct archive {
  std::vector<std::string> all;
  void add(std::string text) { all.push_back(std::move(text)); }
  std::size_t add_view(std::string_view text) {
    all.emplace_back(text);
    return all.size();
  }
  std::vector<long> sums(const std::string& a, std::vector<long> numbers, std::string_view b) {
    for (long& each : numbers) each += static_cast<long>(a.size() + b.size());
    return numbers;
  }
  std::string refuse(const std::string& text) { throw std::out_of_range(text.substr(0, 3)); }
  void wait(std::uint64_t event) const { events::wait(event); }
};

/// Arguments are read when the worker runs the call, long after their message has arrived.
inline void sends_long_arguments(object_space& space) {
  const int home = (space.rank() + 1) % space.size();
  const auto a = space.make_on<archive>({home, 1});
  std::vector<std::string> expected;
  std::vector<async_result<std::size_t>> begun;
  const std::uint64_t event = events::next(space);
  a.post<&archive::wait>(event);
  for (int i = 0; i < 12; ++i) {
    std::string text(i % 4 == 0 ? 10u : 30'000u + 10'000u * static_cast<unsigned>(i),
                     static_cast<char>('a' + i));
    expected.push_back(text);
    if (i % 3 == 0) a.post<&archive::add>(text);
    if (i % 3 == 1) a.post<&archive::add>(std::move(text));
    if (i % 3 == 2) begun.push_back(a.async<&archive::add_view>(text));
    text.assign(text.size(), '!');
  }
  constexpr auto set = [](std::uint64_t number) { events::set(number); };
  space.call_on<set>(home, event);
  EXPECT_TRUE(a.call<&archive::all>() == expected);
  for (auto& each : begun) each.get();
  std::vector<long> numbers(300'000);
  std::iota(numbers.begin(), numbers.end(), 7);
  const auto sums = a.call<&archive::sums>(expected[1], numbers, expected[0]);
  for (long& each : numbers) each += static_cast<long>(expected[1].size() + expected[0].size());
  EXPECT_TRUE(sums == numbers);
  EXPECT_EQ(what_of<call_error>([&] { a.call<&archive::refuse>(std::string(100'000, 'r')); }),
            "rrr");
  { auto dropped = a.async<&archive::all>(); }
  const auto made = space.make_on<std::string>({home, 0}, std::string(200'000, 's'));
  EXPECT_EQ(made.call<&std::string::size>(), 200'000u);
}

/// A barrier ends after the calls that workers run: one of these waits for a call that is made
/// before the barrier and served in it.
inline void ends_barriers_after_calls(object_space& space) {
  static std::atomic<int> ended;
  static std::atomic<int> expected;
  space.barrier();
  const int home = (space.rank() + 1) % space.size();
  for (int round = 0; round < 20; ++round) {
    const auto a = space.make_on<waiter>({home, round % 2});
    const std::uint64_t event = events::next(space);
    constexpr auto wait = [](waiter&, std::uint64_t number) {
      events::wait(number);
      ++ended;
    };
    constexpr auto set = [](std::uint64_t number) { events::set(number); };
    a.post<wait>(event);
    space.call_on<[] { ++expected; }>(home);
    space.post_on<set>(home, event);
    space.barrier();
    EXPECT_EQ(ended, expected);
    space.barrier();
  }
}

struct counted {
  static inline std::atomic<int> made{0}, ended{0}, ended_elsewhere{0};
  int worker = this_worker();
  counted() { ++made; }
  ~counted() {
    ++ended;
    if (this_worker() != worker || worker < 0) ++ended_elsewhere;
  }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
};

/// Needs all ranks to make as many objects.
inline void makes_counted_objects(object_space& space) {
  for (int i = 0; i < 20; ++i) {
    const auto one = space.make_on<counted>({(space.rank() + i) % space.size(), i % 2});
    if (i % 3 == 0) one.destroy();
  }
}

struct sum_of_calls {
  long sum = 0, calls = 0;
  std::vector<long> last_of;  ///< number of the last call of each rank
  long add(int rank, long number, long value, const std::vector<long>& more) {
    last_of.resize(static_cast<std::size_t>(
        std::max<std::size_t>(last_of.size(), static_cast<std::size_t>(rank) + 1)));
    long& last = last_of[static_cast<std::size_t>(rank)];
    if (number <= last) throw std::logic_error("calls in the wrong order");
    last = number;
    ++calls;
    return sum += value + std::accumulate(more.begin(), more.end(), 0l);
  }
};

/// Random calls of objects on all workers from all ranks, and objects that come and go.
inline void stress(object_space& space) {
  const std::uint64_t seed = support::chosen_seed();
  SCOPED_TRACE("CREEK_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed + static_cast<std::uint64_t>(space.rank()));
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  global_group<sum_of_calls> all;
  if (space.rank() == 0) all = space.make_on_all_workers<sum_of_calls>();
  all = space.bcast(all, 0);
  std::vector<async_result<long>> begun;
  long own_sum = 0;
  const long steps = static_cast<long>(support::number_from("CREEK_TEST_STEPS", 1'500));
  for (long step = 1; step <= steps; ++step) {
    const auto& one = all[static_cast<int>(below(static_cast<std::uint64_t>(all.size())))];
    const long value = static_cast<long>(below(1000));
    const std::vector<long> more(below(20) == 0 ? 20'000 : below(5), 1);
    own_sum += value + static_cast<long>(more.size());
    switch (below(8)) {
      case 0:
        one.call<&sum_of_calls::add>(space.rank(), step, value, more);
        break;
      case 1:
      case 2:
        begun.push_back(one.async<&sum_of_calls::add>(space.rank(), step, value, more));
        break;
      case 3: {
        const int rank = static_cast<int>(below(static_cast<std::uint64_t>(space.size())));
        const auto brief = space.make_on<counted>({rank, static_cast<int>(below(2))});
        if (below(2) == 0) brief.destroy();
        [[fallthrough]];
      }
      default:
        one.post<&sum_of_calls::add>(space.rank(), step, value, more);
    }
    if (below(100) == 0) space.poll();
    if (begun.size() > 30) {
      for (auto& each : begun) (void)each.get();
      begun.clear();
    }
  }
  for (auto& each : begun) (void)each.get();
  space.barrier();
  const auto add = [](long a, long b) { return a + b; };
  EXPECT_EQ(all.reduce<&sum_of_calls::calls>(add), steps * space.size());
  // The sum of what all ranks have sent.
  static thread_local long sum_here;
  sum_here = own_sum;
  space.barrier();
  long expected = 0;
  for (int rank = 0; rank < space.size(); ++rank) {
    expected += space.call_on<[] { return sum_here; }>(rank);
  }
  EXPECT_EQ(all.reduce<&sum_of_calls::sum>(add), expected);
}

/// Runs all cases on a communicator, whose ranks are threads of one process or not.
template <class Communicator>
void run_all(Communicator& ranks) {
  runtime workers{host{workers_per_rank}};
  for (const auto& one :
       {&calls_objects, &keeps_the_order_of_each_caller, &passes_exceptions_on,
        &tells_of_wrong_workers, &runs_objects_at_the_same_time, &runs_tasks_in_calls,
        &sends_long_arguments, &ends_barriers_after_calls, &makes_counted_objects, &stress}) {
    object_space space(ranks);
    use_workers(space, workers);
    one(space);
  }
  // Each end has waited for the destructors of this process's objects.
  ranks.barrier();
  EXPECT_EQ(counted::made, counted::ended);
  EXPECT_GE(counted::made, 20);
  EXPECT_EQ(counted::ended_elsewhere, 0);
  ranks.barrier();
}

}  // namespace creek::worker_objects_cases

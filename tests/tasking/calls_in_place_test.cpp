// SPDX-License-Identifier: Apache-2.0
// Calls to objects of one's own worker on the host: they run on the calling strand unless other
// messages come first, and otherwise behave as if sent.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <creek/core/measuring/clock.hpp>

#include "calls_on_workers.hpp"

namespace {

using creek::core_id;
using creek::make_on;
using creek::remote;
using creek::tests::failure;
using creek::tests::log;
using creek::tests::on_worker_0;

/// Returns the address of a local: strands have stacks of their own.
[[gnu::noinline]] std::uintptr_t stack_here() {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}
bool is_near(std::uintptr_t a, std::uintptr_t b) {
  return (a > b ? a - b : b - a) < 16 * 1024;
}

/// Calls until one runs on the stack of the caller; now and then a call is sent.
template <class F>
bool runs_here_soon(F call) {
  for (int i = 0; i < 3; ++i) {
    if (is_near(call(), stack_here())) return true;
  }
  return false;
}

TEST(CallsInPlace, RunOnTheCallingStrand) {
  on_worker_0(1, [] {
    const remote<log> mine = make_on<log>(core_id{0});
    EXPECT_TRUE(runs_here_soon([&] { return mine.call([](log&) { return stack_here(); }); }));
    EXPECT_TRUE(runs_here_soon([&] { return creek::call_on(core_id{0}, &stack_here); }));
    struct placed {
      std::uintptr_t made = stack_here();
    };
    EXPECT_TRUE(runs_here_soon(
        [&] { return make_on<placed>(core_id{0}).call([](placed& p) { return p.made; }); }));
  });
}

TEST(CallsInPlace, AlsoRunFromTasksThatAreNotCalls) {
  creek::runtime rt{creek::host{1}};
  rt.run([] {
    const remote<log> mine = make_on<log>(core_id{0});
    EXPECT_TRUE(runs_here_soon([&] { return mine.call([](log&) { return stack_here(); }); }));
    EXPECT_EQ(creek::async([&] {
                mine.call(&log::add, 1);
                return mine.call(&log::all);
              }).get(),
              std::vector<int>{1});
  });
}

TEST(CallsInPlace, ComeAfterWhatTheCallerSentBefore) {
  for (const unsigned workers : {1U, 3U}) {
    on_worker_0(workers, [] {
      const remote<log> mine = make_on<log>(core_id{0});
      const remote<log> other = make_on<log>(core_id{0});
      std::vector<int> expected;
      for (int i = 0; i < 300; i += 3) {
        mine.post(&log::add, i);
        other.call([&](log&) { mine.post(&log::add, i + 1); });
        mine.call(&log::add, i + 2);
        for (int n = i; n < i + 3; ++n) expected.push_back(n);
      }
      EXPECT_EQ(mine.call(&log::all), expected);
    });
  }
}

/// The call would wait for these anyway.
TEST(CallsInPlace, HandleEarlierMessagesOfTheirObject) {
  on_worker_0(1, [] {
    const remote<log> mine = make_on<log>(core_id{0});
    std::uintptr_t posted = 0;
    EXPECT_TRUE(runs_here_soon([&] {
      mine.post([&](log&) { posted = stack_here(); });
      return mine.call([](log&) { return stack_here(); });
    }));
    EXPECT_TRUE(is_near(posted, stack_here()));
  });
}

TEST(CallsInPlace, LetEarlierMessagesOfTheirObjectWait) {
  for (const unsigned workers : {1U, 2U}) {
    on_worker_0(workers, [workers] {
      const core_id last{static_cast<int>(workers) - 1};
      const remote<log> mine = make_on<log>(core_id{0});
      std::vector<int> expected;
      for (int i = 0; i < 300; i += 3) {
        mine.post([=](log& self) {
          creek::call_on(last, [] {});
          creek::async([] {}).get();
          self.add(i);
        });
        mine.post(&log::add, i + 1);
        mine.call(&log::add, i + 2);
        for (int n = i; n < i + 3; ++n) expected.push_back(n);
      }
      EXPECT_EQ(mine.call(&log::all), expected);
    });
  }
}

/// A message to another object may wait for what the caller does next.
TEST(CallsInPlace, LeaveMessagesOfOtherObjectsToTheWorker) {
  for (const unsigned workers : {1U, 2U}) {
    on_worker_0(workers, [] {
      const remote<log> mine = make_on<log>(core_id{0});
      const remote<log> other = make_on<log>(core_id{0});
      for (int i = 0; i < 50; ++i) {
        creek::promise<void> may_end;
        mine.post(&log::add, i);
        creek::future<void> needs_caller =
            other.async([&, done = may_end.get_future()](log&) mutable { done.get(); });
        mine.post(&log::add, i);
        mine.call([](log&) {});
        may_end.set_value();
        needs_caller.get();
      }
      EXPECT_EQ(mine.call(&log::all).size(), 100U);
    });
  }
}

/// A message that a handler sends before the call runs may wait for what the caller does next.
TEST(CallsInPlace, LeaveWhatEarlierMessagesSendToTheWorker) {
  for (const unsigned workers : {1U, 2U}) {
    on_worker_0(workers, [] {
      const remote<log> mine = make_on<log>(core_id{0});
      const remote<log> other = make_on<log>(core_id{0});
      for (int i = 0; i < 60; ++i) {
        creek::promise<void> may_end;
        mine.post([&](log&) {
          mine.post([i, done = may_end.get_future()](log& later) mutable {
            done.get();
            later.add(i);
          });
          if (i % 3 == 1) creek::async([] {}).get();
        });
        if (i % 3 == 2) other.post(&log::add, i);
        mine.call([](log&) {});
        may_end.set_value();
        EXPECT_EQ(mine.call(&log::all).back(), i);
      }
    });
  }
}

/// An object that its own worker calls while others send it messages.
TEST(CallsInPlace, TakeTurnsWithMessagesOfOthers) {
  constexpr int rounds = 2000;
  on_worker_0(3, [] {
    const remote<log> shared = make_on<log>(core_id{0});
    const auto use = [&shared](int first) {
      for (int i = 0; i < rounds; ++i) {
        shared.post(&log::add, first + 2 * i);
        shared.call(&log::add, first + 2 * i + 1);
      }
    };
    creek::future<void> one = creek::async_on(core_id{1}, [&] { use(2 * rounds); });
    creek::future<void> two = creek::async_on(core_id{2}, [&] { use(4 * rounds); });
    use(0);
    one.get();
    two.get();
    std::vector<int> all = shared.call(&log::all);
    ASSERT_EQ(all.size(), std::size_t{6 * rounds});
    std::ranges::stable_sort(all, {}, [](int n) { return n / (2 * rounds); });
    EXPECT_TRUE(std::ranges::is_sorted(all));
  });
}

/// Many callers on several workers, whose posts come before their calls.
TEST(CallsInPlace, KeepTheOrderOfEachCallerAmongMany) {
  constexpr int callers = 4, rounds = 500;
  creek::runtime rt{creek::host{3}};
  const bool in_order = rt.run([&] {
    const remote<std::vector<int>> posted = make_on<std::vector<int>>(core_id{2}, callers, 0);
    std::atomic<int> wrong{0};
    creek::task_group group;
    for (int caller = 0; caller < callers; ++caller) {
      group.spawn([&, caller] {
        creek::call_on(core_id{caller % 3}, [&] {
          const auto mine = static_cast<std::size_t>(caller);
          for (int i = 1; i <= rounds; ++i) {
            posted.post([mine](std::vector<int>& all) { ++all[mine]; });
            wrong += posted.call([mine](std::vector<int>& all) { return all[mine]; }) != i;
          }
        });
      });
    }
    group.wait();
    return wrong == 0;
  });
  EXPECT_TRUE(in_order);
}

TEST(CallsInPlace, WaitAndGoOnOnTheirWorker) {
  on_worker_0(2, [] {
    const remote<log> mine = make_on<log>(core_id{0});
    for (int i = 0; i < 50; ++i) {
      const bool stayed = mine.call([](log&) {
        const int before = creek::this_worker();
        creek::call_on(core_id{1}, [] {});
        creek::async([] {}).get();
        return before == 0 && creek::this_worker() == 0;
      });
      EXPECT_TRUE(stayed);
      EXPECT_EQ(creek::this_worker(), 0);
    }
  });
}

/// A task that makes a call is bound to its worker only meanwhile.
TEST(CallsInPlace, LeaveTheCallerFree) {
  creek::runtime rt{creek::host{2}};
  rt.run([] {
    for (int i = 0; i < 200; ++i) {
      const core_id here{creek::this_worker()};
      creek::call_on(here, [] { creek::call_on(core_id{1 - creek::this_worker()}, [] {}); });
      creek::fork_join([] { creek::async([] {}).get(); }, [] { creek::async([] {}).get(); });
    }
  });
}

/// Calls that came while one waited run on the worker, not on the stack of its caller, who might
/// have to go on before they can end.
TEST(CallsInPlace, LeaveOtherMessagesToTheWorker) {
  for (const unsigned workers : {1U, 2U}) {
    on_worker_0(workers, [] {
      const remote<log> mine = make_on<log>(core_id{0});
      for (int i = 0; i < 20; ++i) {
        creek::promise<void> may_end;
        creek::future<void> needs_caller;
        mine.call([&](log& self) {
          needs_caller = mine.async([&, done = may_end.get_future()](log& later) mutable {
            done.get();
            later.add(i);
          });
          creek::call_on(core_id{static_cast<int>(creek::worker_count()) - 1}, [] {});
          creek::async([] {}).get();
          self.add(-1);
        });
        may_end.set_value();
        needs_caller.get();
        EXPECT_EQ(mine.call(&log::all).back(), i);
      }
    });
  }
}

TEST(CallsInPlace, ThatWouldWaitForThemselvesAreRefused) {
  on_worker_0(1, [] {
    const remote<log> a = make_on<log>(core_id{0});
    const remote<log> b = make_on<log>(core_id{0});
    for (int i = 0; i < 3; ++i) {
      EXPECT_THROW(a.call([&](log&) { a.call(&log::all); }), creek::usage_error);
      EXPECT_THROW(a.call([&](log&) { b.call([&](log&) { a.call(&log::all); }); }),
                   creek::usage_error);
      EXPECT_EQ(a.call(&log::all), std::vector<int>{});
    }
  });
}

TEST(CallsInPlace, BringExceptionsBack) {
  on_worker_0(1, [] {
    const remote<log> mine = make_on<log>(core_id{0});
    const auto number_of = [](auto call) {
      try {
        call();
      } catch (const failure& caught) {
        return caught.number;
      }
      return 0;
    };
    for (int i = 1; i < 4; ++i) {
      EXPECT_EQ(number_of([&] { mine.call([i](log&) { throw failure{i}; }); }), i);
      EXPECT_EQ(number_of([&] { creek::call_on(core_id{0}, [i] { throw failure{i}; }); }), i);
      EXPECT_EQ(
          number_of([&] { mine.call([i](log&) { creek::spawn([i] { throw failure{i}; }); }); }), i);
    }
    mine.destroy();
    EXPECT_THROW(mine.call(&log::all), creek::usage_error);
  });
}

TEST(CallsInPlace, AreNotThoseOfAnotherRuntimeOrThread) {
  creek::runtime one{creek::host{1}}, two{creek::host{1}};
  const remote<log> there = one.run([] { return make_on<log>(core_id{0}); });
  const auto where = [](log&) { return std::this_thread::get_id(); };
  const std::thread::id home = there.call(where);
  EXPECT_NE(home, std::this_thread::get_id());
  two.run([&] {
    creek::call_on(core_id{0}, [&] {
      for (int i = 0; i < 3; ++i) EXPECT_EQ(there.call(where), home);
    });
  });
}

/// A library that must be called on one thread: a thread that calls run() may act as the worker,
/// but does not run calls.
TEST(CallsInPlace, RunOnTheThreadOfTheWorker) {
  for (int i = 0; i < 20; ++i) {
    creek::runtime rt{creek::host{1}};
    const auto where = [] { return std::this_thread::get_id(); };
    std::vector<std::thread::id> all;
    for (int run = 0; run < 3; ++run) {
      rt.run([&] {
        creek::post_on(core_id{0}, [] {});
        all.push_back(creek::call_on(core_id{0}, where));
        all.push_back(creek::call_on(core_id{0}, where));
      });
    }
    for (const std::thread::id each : all) EXPECT_EQ(each, all.front());
    EXPECT_NE(all.front(), std::this_thread::get_id());
  }
}

/// Objects that call the next one, on a stack that does not hold all of the calls.
struct link {
  remote<link> next;
  int length() const { return next ? next.call(&link::length) + 1 : 1; }
};

TEST(CallsInPlace, DoNotOverflowTheStack) {
  creek::scheduler_options options;
  options.workers = 1;
  options.stack_size = std::size_t{64} << 10;
  creek::runtime rt{creek::host{options}};
  rt.run([] {
    constexpr int links = 500;
    remote<link> first;
    for (int i = 0; i < links; ++i) first = make_on<link>(core_id{0}, link{first});
    EXPECT_EQ(first.call(&link::length), links);
  });
}

/// A strand that calls its own worker for ever lets that do other things.
TEST(CallsInPlace, LetTheWorkerDoOtherWork) {
  on_worker_0(1, [] {
    struct flag {
      bool is_set = false;
    };
    const remote<flag> mine = make_on<flag>(core_id{0});
    const remote<flag> other = make_on<flag>(core_id{0});
    creek::promise<void> start;
    creek::future<void> waits = other.async([&, begun = start.get_future()](flag&) mutable {
      begun.get();
      mine.call([](flag& f) { f.is_set = true; });
    });
    start.set_value();
    while (!mine.call(&flag::is_set)) {
    }
    waits.get();
  });
}

TEST(CallsInPlace, TakeTurnsWithOthersInTheMailbox) {
  on_worker_0(2, [] {
    struct guarded {
      bool inside = false;
      int overlaps = 0, calls = 0;
      void enter() {
        overlaps += std::exchange(inside, true);
        ++calls;
        creek::async([] {}).get();
        inside = false;
      }
    };
    const remote<guarded> mine = make_on<guarded>(core_id{0});
    creek::future<void> others = creek::async_on(core_id{1}, [&] {
      for (int i = 0; i < 100; ++i) mine.call(&guarded::enter);
    });
    for (int i = 0; i < 100; ++i) mine.call(&guarded::enter);
    others.get();
    EXPECT_EQ(mine.call(&guarded::calls), 200);
    EXPECT_EQ(mine.call(&guarded::overlaps), 0);
  });
}

/// A closure that posts itself on, `left` times.
struct hop {
  std::atomic<int>* ended;
  int left;
  void operator()() const {
    if (left == 0) {
      ended->fetch_add(1);
    } else {
      creek::post_on(creek::core_id{0}, hop{ended, left - 1});
    }
  }
};

/// Handlers that post while many messages wait do not wait one below the other.
TEST(PostsToItself, NeedFewStacks) {
  constexpr int chains = 600, hops = 60;
  for (const unsigned workers : {1U, 2U}) {
    creek::runtime rt{creek::host{workers}};
    std::atomic<int> ended{0};
    for (int i = 0; i < chains / 2; ++i) {  // from outside, these wait together
      rt.run([&] { creek::post_on(creek::core_id{0}, hop{&ended, hops}); });
    }
    rt.run([&] {
      for (int i = 0; i < chains / 2; ++i) creek::post_on(creek::core_id{0}, hop{&ended, hops});
      while (ended.load() < chains) creek::call_on(creek::core_id{0}, [] {});
    });
    EXPECT_EQ(ended.load(), chains);
    EXPECT_LT(rt.counters()[creek::counter::suspends], std::uint64_t{chains * hops / 10});
  }
}

}  // namespace

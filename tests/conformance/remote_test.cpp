// SPDX-License-Identifier: Apache-2.0
// Objects on workers: where calls run, in which order, what they return, how objects end, and
// misuse.
#include <array>
#include <atomic>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "setups.hpp"
#include "support/few_cases.hpp"

namespace {

using namespace conformance;
using creek::core_id;
using creek::make_on;
using creek::remote;

class Remote : public Conformance {
 protected:
  /// Returns false on tbb, where calls run on any thread.
  bool stays() const { return GetParam().backend != "tbb"; }
  core_id last() const { return core_id{static_cast<int>(GetParam().workers) - 1}; }
};
CONFORMANCE(Remote);

struct account {
  int balance = 0;
  int deposit(int amount) { return balance += amount; }
  int get() const { return balance; }
  void refuse() { throw failure{7}; }
};

TEST_P(Remote, CallsMemberFunctionsFunctionsAndLambdas) {
  in_each_runtime([&] {
    const remote<account> there = make_on<account>(last(), account{5});
    EXPECT_EQ(there.call(&account::deposit, 10), 15);
    EXPECT_EQ(there.async(&account::deposit, 1).get(), 16);
    there.post(&account::deposit, 4);
    EXPECT_EQ(there.call(&account::get), 20);
    EXPECT_EQ(there.call([](account& a, int b) { return a.balance - b; }, 2), 18);
    there.call([](account& a) { a.balance = 1; });
    EXPECT_EQ(there.call(&account::balance), 1);
  });
}

TEST_P(Remote, RunsWhereTheObjectLives) {
  in_each_runtime([&] {
    for (int i = 0; i <= last().value; ++i) {
      const auto where = [] { return creek::this_worker(); };
      struct place {
        int made = creek::this_worker();
        int here() const { return creek::this_worker(); }
      };
      const remote<place> there = make_on<place>(core_id{i});
      EXPECT_EQ(there.core(), core_id{i});
      const int ran = creek::call_on(core_id{i}, where);
      const int made = there.call(&place::made);
      const int called = there.call(&place::here);
      if (stays()) {
        EXPECT_EQ(ran, i);
        EXPECT_EQ(made, i);
        EXPECT_EQ(called, i);
      }
    }
  });
}

TEST_P(Remote, StaysWhereItLivesAcrossWaits) {
  if (!stays()) GTEST_SKIP() << "workers of tbb are numbers";
  in_each_runtime([&] {
    struct forker {
      int moved() {
        const int before = creek::this_worker();
        int elsewhere = 0;
        for (int i = 0; i < 20; ++i) {
          fib(8);
          elsewhere += creek::this_worker() != before;
          creek::async([] { return fib(6); }).get();
          elsewhere += creek::this_worker() != before;
        }
        return elsewhere;
      }
    };
    const remote<forker> there = make_on<forker>(last());
    EXPECT_EQ(there.call(&forker::moved), 0);
  });
}

TEST_P(Remote, MovesArgumentsAndResults) {
  in_each_runtime([&] {
    const remote<std::vector<int>> there = make_on<std::vector<int>>(last());
    auto number = std::make_unique<int>(3);
    there.call([](std::vector<int>& v, std::unique_ptr<int> p) { v.push_back(*p); },
               std::move(number));
    const std::string text =
        there.call([](std::vector<int>& v, std::string s) { return s + std::to_string(v.at(0)); },
                   std::string(200, 'x'));
    EXPECT_EQ(text, std::string(200, 'x') + "3");
    // Tests arguments that just fit into a message, and larger ones.
    std::array<int, 12> some{};
    std::array<int, 1000> many{};
    std::iota(many.begin(), many.end(), 0);
    some[11] = 5;
    const auto sum = [](std::vector<int>&, const auto& a) {
      return std::accumulate(a.begin(), a.end(), 0);
    };
    EXPECT_EQ(there.call(sum, some), 5);
    EXPECT_EQ(there.call(sum, many), 499500);
    EXPECT_EQ(there.call([](std::vector<int>&) { return std::array<int, 100>{1}; })[0], 1);
  });
}

TEST_P(Remote, BringsExceptionsBack) {
  in_each_runtime([&] {
    const remote<account> there = make_on<account>(last());
    EXPECT_EQ(failure_of([&] { there.call(&account::refuse); }), 7);
    EXPECT_EQ(failure_of([&] { there.async(&account::refuse).get(); }), 7);
    EXPECT_EQ(there.call(&account::deposit, 2), 2);
    EXPECT_EQ(failure_of([&] { creek::call_on(last(), [] { throw failure{8}; }); }), 8);
    struct bad {
      bad() { throw failure{9}; }
    };
    EXPECT_EQ(failure_of([&] { (void)make_on<bad>(last()); }), 9);
    // Rethrows the exception of a task that the call spawned without waiting for it.
    EXPECT_EQ(
        failure_of([&] { there.call([](account&) { creek::spawn([] { throw failure{10}; }); }); }),
        10);
  });
}

TEST_P(Remote, KeepsTheOrderOfEachCaller) {
  in_each_runtime([&] {
    using log = std::vector<std::pair<int, int>>;
    const remote<log> there = make_on<log>(last());
    constexpr int callers = 4, calls = 300;
    creek::task_group group;
    for (int caller = 0; caller < callers; ++caller) {
      group.spawn([=] {
        for (int i = 0; i < calls; ++i) {
          there.post([](log& l, int c, int n) { l.emplace_back(c, n); }, caller, i);
          if (i % 100 == 0) there.call([](log&) {});
        }
        there.call([](log&) {});
      });
    }
    group.wait();
    const log all = there.call([](log& l) { return l; });
    EXPECT_EQ(all.size(), std::size_t{callers * calls});
    std::array<int, callers> next{};
    int out_of_order = 0;
    for (const auto& [caller, number] : all) {
      out_of_order += number != next[static_cast<std::size_t>(caller)]++;
    }
    EXPECT_EQ(out_of_order, 0);
  });
}

/// The numbers that callers have sent, each its own from 0 on.
struct number_log {
  std::vector<std::pair<int, int>> all;
  void add(int caller, int number) { all.emplace_back(caller, number); }
  /// Returns how many came before their caller's earlier ones.
  int out_of_order(int callers) const {
    std::vector<int> next(static_cast<std::size_t>(callers));
    int count = 0;
    for (const auto& [caller, number] : all) {
      count += number != next[static_cast<std::size_t>(caller)]++;
    }
    return count;
  }
};

/// A caller that waits for others may go on on another worker.
TEST_P(Remote, KeepsTheOrderOfCallersThatMove) {
  in_each_runtime([&] {
    const remote<number_log> there = make_on<number_log>(last());
    std::vector<remote<account>> others;
    for (int i = 0; i <= last().value; ++i) others.push_back(make_on<account>(core_id{i}));
    constexpr int callers = 6, calls = creek::support::few_cases ? 30 : 100;
    creek::task_group group;
    for (int caller = 0; caller < callers; ++caller) {
      group.spawn([&, caller] {
        for (int i = 0; i < calls; ++i) {
          there.post(&number_log::add, caller, i);
          const auto& other = others[static_cast<std::size_t>(i + caller) % others.size()];
          if (i % 3 == 0) other.call(&account::deposit, 1);
          if (i % 3 == 1) (void)other.async(&account::deposit, 1).get();
          if (i % 3 == 2) (void)creek::async([i] { return fib(i % 12); }).get();
        }
      });
    }
    group.wait();
    there.call([](number_log& log) { EXPECT_EQ(log.all.size(), std::size_t{callers * calls}); });
    EXPECT_EQ(there.call(&number_log::out_of_order, callers), 0);
  });
}

/// Messages of several workers, each sent when the caller knew of the one before, wait together for
/// a receiver that is busy.
TEST_P(Remote, KeepsTheOrderOfWhatWaits) {
  in_each_runtime([&] {
    const remote<number_log> there = make_on<number_log>(last());
    constexpr int rounds = 12, calls = 6, busy = creek::support::few_cases ? 12 : 16;
    for (int round = 0; round < rounds; ++round) {
      there.post([](number_log&) { EXPECT_EQ(fib(busy), fib_sequential(busy)); });
      for (int i = 0; i < calls; ++i) {
        const int on = last().value == 0 ? 0 : (round + i) % last().value;
        creek::call_on(core_id{on}, [&, number = round * calls + i] {
          there.post(&number_log::add, 0, number);
        });
      }
    }
    EXPECT_EQ(there.call(&number_log::out_of_order, 1), 0);
  });
}

/// Messages that a call has sent before it ended come before what its caller sends then, and both
/// before what a thread outside sends once it knows of it.
TEST_P(Remote, KeepsTheOrderAlongCallsAndRuns) {
  on_each_runtime([&](creek::runtime& rt) {
    constexpr int rounds = 20;
    const auto there = rt.run([&] { return make_on<number_log>(last()); });
    const auto relay = rt.run([&] { return make_on<account>(core_id{0}); });
    for (int i = 0; i < rounds; ++i) {
      there.post(&number_log::add, 0, 4 * i);
      rt.run([&] {
        there.post(&number_log::add, 0, 4 * i + 1);
        relay.call([&there](account&, int n) { there.post(&number_log::add, 0, n); }, 4 * i + 2);
        there.post(&number_log::add, 0, 4 * i + 3);
      });
    }
    EXPECT_EQ(rt.run([&] { return there.call(&number_log::out_of_order, 1); }), 0);
  });
}

/// Runs what branches of a call sent before what the call sends to its own worker after them.
TEST_P(Remote, RunsBehindWhatBranchesOfTheCallSent) {
  in_each_runtime([&] {
    struct sum {
      int value = 0;
      void add() { ++value; }
      int get() { return value; }
    };
    const remote<sum> there = make_on<sum>(last());
    constexpr int rounds = creek::support::few_cases ? 5 : 20, branches = 64;
    const bool all_there = creek::call_on(last(), [&there] {
      for (int round = 1; round <= rounds; ++round) {
        creek::parallel_for(0, branches,
                            [&there](int i) {
                              if (fib(i % 8) >= 0) there.post(&sum::add);
                            },
                            {.grain = 1});
        if (there.call(&sum::get) != round * branches) return false;
      }
      return true;
    });
    EXPECT_TRUE(all_there);
  });
}

/// A call that is given up does not run later, and its object is as before.
TEST_P(Remote, CallsForALimitedTime) {
  using namespace std::chrono_literals;
  in_each_runtime([&] {
    const remote<account> there = make_on<account>(last());
    EXPECT_EQ(there.call_for(1h, &account::deposit, 5), std::optional<int>(5));
    EXPECT_TRUE(there.call_for(1h, [](account&) {}));
    EXPECT_EQ(failure_of([&] { (void)there.call_for(1h, &account::refuse); }), 7);
    creek::promise<void> go_on;
    creek::future<void> gone_on = go_on.get_future();
    auto busy = there.async([&gone_on](account&) { gone_on.get(); });
    EXPECT_EQ(there.call_for(1ms, &account::deposit, 10), std::nullopt);
    EXPECT_EQ(there.call_for(0ms, &account::deposit, 10), std::nullopt);
    EXPECT_FALSE(there.call_for(1ms, &account::refuse));
    go_on.set_value();
    busy.get();
    EXPECT_EQ(there.call(&account::get), 5);
    if (is_simulated()) {
      EXPECT_THROW((void)there.call_until(std::chrono::steady_clock::now() + 1h, &account::get),
                   creek::usage_error);
    } else {
      EXPECT_EQ(there.call_until(std::chrono::steady_clock::now() + 1h, &account::get),
                std::optional<int>(5));
    }
  });
}

/// An object that sends itself one message after another still lets other work run on its worker.
TEST_P(Remote, SendingToOneselfForEverStarvesNobody) {
  if (GetParam().backend == "tbb") GTEST_SKIP() << "oneTBB runs the newest task first";
  in_each_runtime([&] {
    struct ticker {
      remote<ticker>* self = nullptr;
      bool stopped = false;
      void tick() {
        if (!stopped) self->post(&ticker::tick);
      }
    };
    remote<ticker> there = make_on<ticker>(last());
    there.call([&there](ticker& t) { t.self = &there; });
    there.post(&ticker::tick);
    creek::call_on(last(), [] {});
    EXPECT_EQ(creek::async([] { return fib(10); }).get(), fib(10));
    there.call([](ticker& t) { t.stopped = true; });
    there.call([](ticker&) {});  // after the last tick
  });
}

TEST_P(Remote, RunsOneCallAtATimeAlsoWhereOneWaits) {
  in_each_runtime([&] {
    struct guarded {
      bool inside = false;
      int overlaps = 0;
      int calls = 0;
      void enter() {
        overlaps += std::exchange(inside, true);
        ++calls;
        creek::async([] { return fib(5); }).get();
        inside = false;
      }
    };
    const remote<guarded> there = make_on<guarded>(last());
    std::vector<creek::future<void>> all;
    for (int i = 0; i < 50; ++i) all.push_back(there.async(&guarded::enter));
    for (auto& each : all) each.get();
    EXPECT_EQ(there.call(&guarded::calls), 50);
    EXPECT_EQ(there.call(&guarded::overlaps), 0);
  });
}

/// Two objects call each other's neighbours: a worker whose call waits serves other calls.
struct relay {
  remote<relay> next;
  int pass(int hops) {
    if (hops == 0) return 0;
    return next.call(&relay::pass, hops - 1) + 1;
  }
};

TEST_P(Remote, ServesWhileItWaits) {
  in_each_runtime([&] {
    std::vector<remote<relay>> ring;
    for (int i = 0; i < 10; ++i) {
      ring.push_back(make_on<relay>(core_id{i % (last().value + 1)}));
    }
    for (std::size_t i = 0; i + 1 < ring.size(); ++i) {
      ring[i].call([](relay& r, const remote<relay>& next) { r.next = next; }, ring[i + 1]);
    }
    EXPECT_EQ(ring[0].call(&relay::pass, 9), 9);
  });
}

TEST_P(Remote, RefusesToWaitForItself) {
  in_each_runtime([&] {
    const remote<relay> a = make_on<relay>(core_id{0});
    const remote<relay> b = make_on<relay>(last());
    const auto link = [](relay& r, const remote<relay>& next) { r.next = next; };
    a.call(link, b);
    b.call(link, a);
    try {
      a.call(&relay::pass, 5);
      ADD_FAILURE() << "not refused";
    } catch (const creek::usage_error& refused) {
      EXPECT_NE(std::string(refused.what()).find("wait for itself"), std::string::npos);
    }
    EXPECT_EQ(a.call(&relay::pass, 1), 1);
    // An object may post to itself.
    std::atomic<int> ran{0};
    a.call(
        [](relay&, remote<relay> self, std::atomic<int>* count) {
          self.post([](relay&, std::atomic<int>* c) { ++*c; }, count);
        },
        a, &ran);
    a.call([](relay&) {});
    EXPECT_EQ(ran.load(), 1);
    b.call([](relay& r) { r.next = {}; });
  });
}

TEST_P(Remote, DestroysAtHomeWithTheLastHandle) {
  struct noted {
    std::atomic<int>* ended;
    int home = creek::this_worker();
    bool keeps_place;
    noted(std::atomic<int>* e, bool stays) : ended(e), keeps_place(stays) {}
    ~noted() { *ended += !keeps_place || creek::this_worker() == home ? 1 : 1000; }
  };
  std::atomic<int> ended{0};
  int made = 0;
  in_each_runtime([&] {
    for (int i = 0; i < 5; ++i, ++made) {
      remote<noted> there = make_on<noted>(last(), &ended, stays());
      std::vector<remote<noted>> copies(3, there);
      creek::task_group group;
      for (auto& each : copies) {
        group.spawn([mine = std::move(each)] { mine.post([](noted&) {}); });
      }
      group.wait();
      if (i % 2 == 0) there = {};
    }
  });
  EXPECT_EQ(ended.load(), made);
}

TEST_P(Remote, DiesByDestroyAndWithItsRuntime) {
  for (const creek::scheduler_options& options : variants(GetParam())) {
    std::atomic<int> alive{0};
    remote<counted> destroyed, left;
    {
      creek::runtime rt = make_runtime(options, GetParam().backend);
      rt.run([&] {
        destroyed = make_on<counted>(last(), std::ref(alive));
        left = make_on<counted>(last(), std::ref(alive));
        auto before = destroyed.async([](counted&) { return 1; });
        destroyed.destroy();
        destroyed.destroy();
        EXPECT_EQ(before.get(), 1);
        EXPECT_THROW(destroyed.call([](counted&) {}), creek::usage_error);
        EXPECT_THROW(destroyed.post([](counted&) {}), creek::usage_error);
        left.call([](counted&) {});
      });
    }
    EXPECT_EQ(alive.load(), 0);
    EXPECT_THROW(left.call([](counted&) {}), creek::usage_error);
    const remote<counted> copy = left;
    EXPECT_EQ(copy.address(), left.address());
  }
}

TEST_P(Remote, RefusesWhatIsNotThere) {
  in_each_runtime([&] {
    EXPECT_THROW((void)make_on<account>(core_id{last().value + 1}), creek::usage_error);
    EXPECT_THROW((void)make_on<account>(core_id{-1}), creek::usage_error);
    EXPECT_THROW(creek::post_on(core_id{1000}, [] {}), creek::usage_error);
    EXPECT_THROW(remote<account>{}.call(&account::get), creek::usage_error);
  });
  EXPECT_THROW((void)make_on<account>(core_id{0}), creek::usage_error) << "no runtime here";
}

TEST_P(Remote, IsCalledFromThreadsOutside) {
  on_each_runtime([&](creek::runtime& rt) {
    const remote<account> there = rt.run([&] { return make_on<account>(last()); });
    std::vector<std::thread> clients;
    for (int i = 0; i < 3; ++i) {
      clients.emplace_back([&] {
        for (int n = 0; n < 40; ++n) {
          there.post(&account::deposit, 1);
          there.call(&account::deposit, 1);
        }
        EXPECT_EQ(failure_of([&] { there.async(&account::refuse).get(); }), 7);
      });
    }
    for (auto& each : clients) each.join();
    EXPECT_EQ(there.call(&account::get), 240);
  });
}

TEST_P(Remote, FloodsBothWays) {
  in_each_runtime([&] {
    // Sends more than any ring holds, from handlers, in both directions.
    struct counter {
      remote<counter> other;
      int got = 0;
      void flood(int count) {
        for (int i = 0; i < count; ++i) other.post(&counter::take, i);
      }
      void take(int) { ++got; }
    };
    const int count = is_simulated() ? 60 : 2000;
    const remote<counter> a = make_on<counter>(core_id{0});
    const remote<counter> b = make_on<counter>(last());
    const auto link = [](counter& c, const remote<counter>& other) { c.other = other; };
    a.call(link, b);
    b.call(link, a);
    auto one = a.async(&counter::flood, count);
    auto two = b.async(&counter::flood, count);
    one.get();
    two.get();
    EXPECT_EQ(a.call(&counter::got), count);
    EXPECT_EQ(b.call(&counter::got), count);
    a.call([](counter& c) { c.other = {}; });
  });
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Calls of groups on the host: what they allocate, merging, exceptions, members and handles that go
// meanwhile.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "calls_on_workers.hpp"
#include "support/allocations.hpp"

namespace {

using creek::core_id;
using creek::tests::failure;
using creek::tests::log;
using creek::tests::on_worker_0;

struct member {
  int number = -1;
  int steps = 0;
  void step() { ++steps; }
  int get() const { return number; }
};

creek::group<member> numbered(const std::vector<core_id>& cores, creek::group_shape shape = {}) {
  const creek::group<member> made = creek::make_group<member>(cores, shape);
  for (int i = 0; i < made.size(); ++i) {
    made[i].call([](member& m, int number) { m.number = number; }, i);
  }
  return made;
}

std::vector<core_id> on_each_of(int workers, int members) {
  std::vector<core_id> cores;
  for (int i = 0; i < members; ++i) cores.push_back(core_id{i % workers});
  return cores;
}

TEST(GroupCalls, StepsAllocateNothing) {
  on_worker_0(2, [] {
    const creek::group<member> all = creek::make_group<member>();
    for (int i = 0; i < 1000; ++i) all.step(&member::step);  // warms up fibers and records
    // A strand that has to wait for long may need a new stack once.
    long least = 1;
    for (int tries = 0; tries < 5; ++tries) {
      const long before = creek::support::allocations;
      for (int i = 0; i < 200; ++i) all.step(&member::step);
      least = std::min<long>(least, creek::support::allocations - before);
    }
    EXPECT_EQ(least, 0);
    EXPECT_EQ(all.map(&member::steps), std::vector<int>(2, 2000));
  });
}

TEST(GroupCalls, OneCoreMayHaveManyMembers) {
  for (const auto& shape : {creek::group_shape::tree(2), creek::group_shape::chain(),
                            creek::group_shape::flat(), creek::group_shape::binomial()}) {
    on_worker_0(1, [&] {
      const creek::group<member> all = numbered(std::vector<core_id>(9, core_id{0}), shape);
      for (int i = 0; i < 300; ++i) all.step(&member::step);
      EXPECT_EQ(all.map(&member::steps), std::vector<int>(9, 300));
      const auto written = [](member& m) { return std::to_string(m.number); };
      EXPECT_EQ(all.reduce(written, std::plus{}), "012345678");
    });
  }
}

TEST(GroupCalls, MergeInTheOrderOfTheMembersWhoeverEndsLast) {
  on_worker_0(3, [] {
    const creek::group<member> all = numbered(on_each_of(3, 10), creek::group_shape::tree(2));
    for (int i = 0; i < 200; ++i) {
      // Others than the last to be called end last.
      const auto written = [i](member& m) {
        for (int n = 0; n < (m.number * 7 + i) % 10 * 100; ++n) creek::cpu_pause();
        if ((m.number + i) % 5 == 0) creek::async([] {}).get();
        return std::to_string(m.number);
      };
      EXPECT_EQ(all.reduce(written, std::plus{}), "0123456789");
    }
  });
}

TEST(GroupCalls, BringBackTheFirstExceptionAndForgetItAfterwards) {
  on_worker_0(2, [] {
    const creek::group<member> all = numbered(on_each_of(2, 7), creek::group_shape::tree(2));
    for (int round = 0; round < 100; ++round) {
      const int first = round % 7;
      const auto refuse = [first](member& m) {
        if (m.number >= first) throw failure{m.number};
        return 1;
      };
      try {
        all.step(refuse);
        ADD_FAILURE() << "nothing was thrown";
      } catch (const failure& caught) {
        EXPECT_EQ(caught.number, first);
      }
      all.step(&member::step);
      EXPECT_EQ(all.reduce([](member&) { return 1; }, std::plus{}), 7);
    }
    const auto cannot = [](int, int) -> int { throw failure{42}; };
    try {
      (void)all.reduce(&member::get, cannot);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const failure& caught) {
      EXPECT_EQ(caught.number, 42);
    }
    EXPECT_EQ(all.map(&member::steps), std::vector<int>(7, 100));
  });
}

/// A member that is destroyed while calls of its group are under way takes no part in them.
TEST(GroupCalls, AMemberMayBeDestroyedMeanwhile) {
  for (int round = 0; round < 20; ++round) {
    on_worker_0(2, [round] {
      const creek::group<member> all = numbered(on_each_of(2, 5));
      creek::future<int> steps = creek::async_on(core_id{1}, [&] {
        int done = 0;
        try {
          for (;;) {
            all.step(&member::step);
            ++done;
          }
        } catch (const creek::usage_error&) {
        }
        return done;
      });
      creek::call_on(core_id{round % 2}, [] {});
      all[1 + round % 4].destroy();
      const int done = steps.get();
      EXPECT_GE(all[0].call(&member::steps), done);
      EXPECT_LE(all[0].call(&member::steps), done + 1);
    });
  }
}

TEST(GroupCalls, ManyMayCallAtOnce) {
  constexpr int rounds = 200;
  creek::runtime rt{creek::host{3}};
  const creek::group<member> all = rt.run([] { return numbered(on_each_of(3, 6)); });
  const auto use = [&all] {
    int wrong = 0;
    for (int i = 0; i < rounds; ++i) {
      all.step(&member::step);
      wrong += all.reduce(&member::get, std::plus{}) != 15;
    }
    return wrong;
  };
  std::atomic<int> wrong{0};
  std::thread outside([&] { wrong += use(); });
  rt.run([&] {
    creek::task_group group;
    for (int i = 0; i < 4; ++i) {
      group.spawn([&, i] { wrong += creek::call_on(core_id{i % 3}, use); });
    }
    std::vector<creek::future<void>> later;
    for (int i = 0; i < rounds; ++i) later.push_back(all.async_step(&member::step));
    for (auto& each : later) each.get();
    group.wait();
  });
  outside.join();
  EXPECT_EQ(wrong.load(), 0);
  rt.run([&] { EXPECT_EQ(all.map(&member::steps), std::vector<int>(6, 6 * rounds)); });
}

/// Arguments that fit into a message and those that do not reach every member.
TEST(GroupCalls, CarryArgumentsOfAnyLength) {
  on_worker_0(2, [] {
    const creek::group<log> all = creek::make_group<log>(on_each_of(2, 5));
    all.step(&log::add, 1);
    all.step([](log& l, const std::array<int, 30>& a) { l.add(a[29]); }, std::array<int, 30>{});
    all.step([](log& l, const std::string& s) { l.add(static_cast<int>(s.size())); },
             std::string(100, 'x'));
    all.async_step(&log::add, 4).get();
    for (const auto& each : all.map(&log::all)) EXPECT_EQ(each, (std::vector<int>{1, 0, 100, 4}));
  });
}

/// The caller's last handle may go during its call.
TEST(GroupCalls, MayEndWithTheHandleOfTheirGroup) {
  on_worker_0(2, [] {
    for (int i = 0; i < 50; ++i) {
      creek::group<member> all = numbered(on_each_of(2, 3));
      const auto leave = [&all](member& m) {
        if (m.number == 0) all = {};
      };
      all.step(leave);
      EXPECT_EQ(all.size(), 0);
    }
  });
}

/// A group is refused once its runtime has ended, the first time that it is called, too.
TEST(GroupCalls, AreRefusedWhenTheirRuntimeHasEnded) {
  creek::group<log> called, uncalled;
  {
    creek::runtime rt{creek::host{2}};
    rt.run([&] {
      called = creek::make_group<log>(on_each_of(2, 3));
      called.step(&log::add, 1);
      uncalled = creek::make_group<log>(on_each_of(2, 3));
    });
  }
  for (const auto& each : {called, uncalled}) {
    EXPECT_THROW(each.step(&log::add, 1), creek::usage_error);
    EXPECT_THROW((void)each.async_step(&log::add, 1), creek::usage_error);
    EXPECT_THROW((void)each.map(&log::all), creek::usage_error);
  }
}

}  // namespace

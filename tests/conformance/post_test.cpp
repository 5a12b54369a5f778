// SPDX-License-Identifier: Apache-2.0
// Forms of post(): merged operations, many items, only if there is room, and what becomes of
// exceptions.
#include <atomic>
#include <cstdint>
#include <exception>
#include <list>
#include <numeric>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "setups.hpp"
#include "support/endless_calls.hpp"

namespace {

using namespace conformance;
using creek::add_to;
using creek::core_id;
using creek::lower_to;
using creek::make_on;
using creek::raise_to;
using creek::remote;

class Post : public Conformance {
 protected:
  core_id last() const { return core_id{static_cast<int>(GetParam().workers) - 1}; }
  int count() const { return is_simulated() ? 40 : 1000; }
};
CONFORMANCE(Post);

struct statistics {
  std::int64_t sum = 0;
  int lowest = 1000, highest = -1000;
  std::vector<int> log;
  int calls = 0;

  void note(int value) { log.push_back(value); }
  std::int64_t total() const { return sum; }
};

TEST_P(Post, MergesOperationsOfAStrand) {
  in_each_runtime([&] {
    for (const core_id where : {core_id{0}, last()}) {
      const remote<statistics> there = make_on<statistics>(where);
      std::int64_t expected = 0;
      for (int i = 1; i <= count(); ++i) {
        there.post(add_to<&statistics::sum>{i});
        expected += i;
        if (i % 7 == 0) {
          EXPECT_EQ(there.call(&statistics::total), expected);
        } else if (i % 11 == 0) {
          EXPECT_EQ(there.async(&statistics::total).get(), expected);
        }
      }
      for (int i = -5; i < 5; ++i) there.post(lower_to<&statistics::lowest>{i});
      for (int i = -5; i < 5; ++i) there.post(raise_to<&statistics::highest>{i});
      EXPECT_EQ(there.call(&statistics::lowest), -5);
      EXPECT_EQ(there.call(&statistics::highest), 4);
      EXPECT_EQ(there.call(&statistics::total), expected);
    }
  });
}

/// An operation of one's own: counts how often it was called, and merged before that.
struct own_operation {
  int merged = 1;
  void operator()(statistics& here) const {
    here.sum += merged;
    ++here.calls;
  }
  void merge(const own_operation& next) noexcept { merged += next.merged; }
};

/// One that can be merged with its like only.
struct tagged_operation {
  int tag;
  int merged = 1;
  void operator()(statistics& here) const { here.log.push_back(10 * tag + merged); }
  bool may_merge(const tagged_operation& next) const noexcept { return next.tag == tag; }
  void merge(const tagged_operation& next) noexcept { merged += next.merged; }
};

static_assert(creek::mergeable<own_operation> && creek::mergeable<add_to<&statistics::sum>>);
struct sliced_operation : own_operation {
  int tag;
};
static_assert(!creek::mergeable<sliced_operation>);

TEST_P(Post, MergesOnlyNeighboursOfOneKind) {
  in_each_runtime([&] {
    const remote<statistics> a = make_on<statistics>(last()), b = make_on<statistics>(last());
    for (int i = 0; i < 20; ++i) {
      a.post(own_operation{});
      a.post(own_operation{});
      if (i % 2 == 0) b.post(own_operation{});
      a.post(&statistics::note, i);  // not before what came before it
      a.post([](statistics& here, int before) { EXPECT_EQ(here.sum, before); }, 2 * (i + 1));
    }
    EXPECT_EQ(a.call(&statistics::total), 40);
    EXPECT_EQ(b.call(&statistics::total), 10);
    EXPECT_EQ(a.call(&statistics::log).size(), 20U);
    // Messages are fewer where the backend keeps operations back.
    const remote<statistics> c = make_on<statistics>(last());
    for (int i = 0; i < 640; ++i) c.post(own_operation{});
    EXPECT_EQ(c.call(&statistics::total), 640);
    if (is_host()) {
      const remote<statistics> d = make_on<statistics>(last());
      for (const int tag : {1, 1, 2, 2, 2, 1}) d.post(tagged_operation{tag});
      EXPECT_EQ(d.call(&statistics::log), (std::vector{12, 23, 11}));
      EXPECT_LE(c.call(&statistics::calls), 640 / 64 + 1);
    }
  });
}

TEST_P(Post, SendsWhatItHasMergedWhenTheStrandEndsOrWaits) {
  in_each_runtime([&] {
    const remote<statistics> there = make_on<statistics>(last());
    const auto sum_is = [&](std::int64_t expected) {
      // Asked from elsewhere: the sender itself sends nothing more.
      while (creek::async([&] { return there.call(&statistics::total); }).get() != expected) {
      }
    };
    there.post(add_to<&statistics::sum>{7});
    sum_is(7);
    {
      const remote<statistics> dropped = make_on<statistics>(last());
      dropped.post(add_to<&statistics::sum>{1});
    }
    there.destroy();
    EXPECT_THROW(there.post(add_to<&statistics::sum>{1}), creek::usage_error);
  });
  on_each_runtime([&](creek::runtime& rt) {
    // The object goes with the runtime, which ends while an operation is kept back.
    struct noted {
      explicit noted(std::atomic<int>* total) : sum(total) {}
      std::atomic<int>* sum;
      int amount = 0;
      ~noted() { *sum += amount; }
    };
    std::atomic<int> sum{0};
    {
      creek::runtime other = make_runtime({.workers = GetParam().workers}, GetParam().backend);
      other.run([&] {
        auto* left = new remote<noted>(make_on<noted>(last(), &sum));
        left->post(add_to<&noted::amount>{2});
        delete left;
      });
    }
    EXPECT_EQ(sum, 2);
    rt.run([] {});
  });
}

/// Whoever learns of operations by the library's own means calls after them.
TEST_P(Post, SendsWhatItHasMergedBeforeOthersLearnOfIt) {
  on_each_runtime([&](creek::runtime& rt) {
    remote<statistics> there;
    std::int64_t expected = 0;
    const auto add = [&] { there.post(add_to<&statistics::sum>{1}); };
    const auto all_came = [&](std::int64_t added, const char* by) {
      expected += added;
      EXPECT_EQ(there.call(&statistics::total), expected) << by;
    };
    rt.run([&] {
      there = make_on<statistics>(last());
      for (int round = 0; round < count() / 20; ++round) {
        creek::parallel_for(0, 100, [&](int) { add(); });
        all_came(100, "parallel_for");
        creek::fork_join(add, add);
        all_came(2, "fork_join");
        creek::spawn(add);
        creek::taskwait();
        all_came(1, "taskwait");
        creek::async(add).get();
        all_came(1, "a future");
        creek::call_on(core_id{0}, add);
        all_came(1, "an answer");
        creek::channel<int> items(1);
        creek::spawn([&] {
          add();
          (void)items.send(1);
        });
        (void)items.receive();
        all_came(1, "an item");
        creek::taskwait();
        const creek::group<statistics> members = creek::make_group<statistics>();
        members.step([add](statistics&) { add(); });
        all_came(members.size(), "a step");
      }
    });
    for (int round = 0; round < 20; ++round) {
      rt.run(add);
      rt.run([&] { all_came(1, "run()"); });
    }
    rt.run([&] { there = {}; });
  });
}

TEST_P(Post, MergesOperationsOfManySendersAndThreadsOutside) {
  on_each_runtime([&](creek::runtime& rt) {
    remote<statistics> there;
    rt.run([&] { there = make_on<statistics>(last()); });
    const int each = count();
    std::thread outside([&] {
      for (int i = 0; i < each; ++i) there.post(add_to<&statistics::sum>{1});
    });
    rt.run([&] {
      creek::task_group senders;
      for (int k = 0; k < 8; ++k) {
        senders.spawn([&] {
          for (int i = 0; i < each; ++i) there.post(add_to<&statistics::sum>{1});
          EXPECT_GE(there.call(&statistics::total), each);
        });
      }
      senders.wait();
      EXPECT_GE(there.call(&statistics::total), 8 * each);
    });
    outside.join();
    rt.run([&] {
      EXPECT_EQ(there.call(&statistics::total), 9 * each);
      there = {};
    });
  });
}

TEST_P(Post, SendsBatchesForObjectsInTurns) {
  in_each_runtime([&] {
    // More than have a place of their own, on scc as many as are quick.
    const int objects = is_simulated() ? 5 : 100;
    std::vector<remote<statistics>> all;
    std::vector<std::vector<int>> expected(static_cast<std::size_t>(objects));
    for (int i = 0; i < objects; ++i) {
      all.push_back(make_on<statistics>(core_id{i % static_cast<int>(GetParam().workers)}));
    }
    std::uint32_t random = 1;
    for (int i = 0; i < 4 * count(); ++i) {
      random = random * 1664525 + 1013904223;
      const auto which = (random >> 8) % (i % 100 < 50 ? 3 : static_cast<unsigned>(objects));
      if (i % 301 == 300) {
        all[which].post(&statistics::note, i);
      } else {
        all[which].post_batched(&statistics::note, i);
      }
      expected[which].push_back(i);
      if (i % 97 == 0) {
        EXPECT_EQ(all[which].call(&statistics::log), expected[which]);
      }
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i].call(&statistics::log), expected[i]);
    }
    // Items that own memory, and functions that differ by what they captured.
    for (int i = 0; i < 200; ++i) {
      const int added = i % 50 == 0 ? 1000 : 0;
      all[0].post_batched(
          [added](statistics& here, const std::string& text) {
            here.note(static_cast<int>(text.size()) + added);
          },
          std::string(static_cast<std::size_t>(i), 'x'));
      expected[0].push_back(i + added);
    }
    EXPECT_EQ(all[0].call(&statistics::log), expected[0]);
  });
}

TEST_P(Post, SendsManyItemsInOrder) {
  in_each_runtime([&] {
    const remote<statistics> there = make_on<statistics>(last());
    std::vector<int> expected;
    for (const int size : {0, 1, 3, 11, 12, 13, 100}) {
      std::vector<int> some(static_cast<std::size_t>(size));
      std::iota(some.begin(), some.end(), size);
      there.post_many(&statistics::note, some);
      expected.insert(expected.end(), some.begin(), some.end());
    }
    EXPECT_EQ(there.call(&statistics::log), expected);
    std::list<std::string> texts{"a", std::string(100, 'b'), ""};
    there.post_many(
        [](statistics& here, const std::string& text) { here.note(static_cast<int>(text.size())); },
        texts);
    expected.insert(expected.end(), {1, 100, 0});
    EXPECT_EQ(there.call(&statistics::log), expected);
    EXPECT_EQ(texts.front(), "a") << "items are copied";
    there.post_many([](statistics& here, bool item) { here.note(item ? 1 : 0); },
                    std::vector{true, false});
    const char* const two[20] = {"x", nullptr};
    there.post_many([](statistics& here, const char* item) { here.note(item != nullptr ? 1 : 0); },
                    std::span(two));
    // An array whose iterators could be taken for items, and a range whose end is of another type.
    const void* const addresses[20] = {};
    there.post_many([](statistics& here, const void* item) { here.note(item != nullptr ? 1 : 0); },
                    addresses);
    struct counted_items {
      const int* first;
      auto begin() const { return std::counted_iterator(first, 3); }
      auto end() const { return std::default_sentinel; }
    };
    const int numbers[] = {5, 6, 7, 8};
    there.post_many(&statistics::note, counted_items{numbers});
    expected.insert(expected.end(), {1, 0, 1});
    expected.insert(expected.end(), 19 + 20, 0);
    expected.insert(expected.end(), {5, 6, 7});
    const std::string prefix(50, 'c');  // a function that does not fit into a message
    there.post_many([prefix](statistics& here,
                             char item) { here.note(static_cast<int>(prefix.size()) + item); },
                    std::string("\1\2"));
    expected.insert(expected.end(), {51, 52});
    EXPECT_EQ(there.call(&statistics::log), expected);
  });
}

struct careful {
  std::vector<std::string> failures;
  void on_post_failure(std::exception_ptr why) {
    try {
      std::rethrow_exception(std::move(why));
    } catch (const std::exception& caught) {
      failures.emplace_back(caught.what());
    }
  }
  void fail(const std::string& text) { throw std::runtime_error(text); }
};

TEST_P(Post, GivesExceptionsToTheObjectsHandler) {
  in_each_runtime([&] {
    const remote<careful> there = make_on<careful>(last());
    there.post(&careful::fail, "method");
    there.post([](careful&) { creek::spawn([] { throw std::runtime_error("child"); }); });
    there.post_many(
        [](careful&, int item) {
          if (item == 2) throw std::runtime_error("item");
        },
        std::vector{1, 2, 3});
    EXPECT_TRUE(there.try_post(&careful::fail, "tried"));
    for (const char* each : {"first", "second"})
      there.post_batched(&careful::fail, std::string(each));
    EXPECT_THROW(there.call(&careful::fail, "call"), std::runtime_error);
    EXPECT_EQ(there.call([](careful& here) { return here.failures; }),
              (std::vector<std::string>{"method", "child", "item", "tried", "first", "second"}));
  });
}

TEST_P(Post, EndsTheProgramByAnExceptionThatNobodyTakes) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  if (GetParam().workers != 2) return;  // once
  const auto ends = [&] {
    creek::runtime rt = make_runtime({.workers = 2}, GetParam().backend);
    rt.run([&] {
      const remote<statistics> there = make_on<statistics>(last());
      there.post([](statistics&, int) { throw std::runtime_error("nobody takes this"); }, 1);
      there.call(&statistics::total);
    });
  };
  EXPECT_DEATH(ends(),
               "creek: an exception left a posted call, .*statistics: .*lambda.*: nobody "
               "takes this");
}

TEST_P(Post, LetsTheTasksOfAWaitingStrandRunBesidePostsWithoutEnd) {
  if (GetParam().backend == "tbb") GTEST_SKIP() << "a post runs in the strand that sends it";
  in_each_runtime([&] {
    creek::support::endless_calls calls(core_id{0}, is_simulated() ? 1000 : 1'000'000);
    creek::promise<void> done;
    creek::future<void> task = creek::async([&] { done.set_value(); });
    done.get_future().get();
    EXPECT_FALSE(calls.gave_up());
    task.get();
  });
}

TEST_P(Post, TriesWithoutAWait) {
  on_each_runtime([&](creek::runtime& rt) {
    remote<statistics> there;
    int taken = 0;
    rt.run([&] {
      there = make_on<statistics>(last());
      for (int i = 0; i < 20; ++i) taken += there.try_post(&statistics::note, i) ? 1 : 0;
      EXPECT_EQ(there.call(&statistics::log).size(), static_cast<std::size_t>(taken));
    });
    EXPECT_EQ(taken, 20) << "there is room";
    EXPECT_TRUE(there.try_post(&statistics::note, 1));
    rt.run([&] { there = {}; });
  });
  if (!is_host() || GetParam().workers == 1) return;
  // The receiver is kept busy until its sender has found no room.
  on_each_runtime([&](creek::runtime& rt) {
    rt.run([&] {
      creek::call_on(core_id{0}, [&] {
        const remote<statistics> there = make_on<statistics>(last());
        std::atomic<bool> is_busy{false}, is_full{false};
        there.post([&](statistics&) {
          is_busy = true;
          while (!is_full) std::this_thread::yield();
        });
        while (!is_busy) std::this_thread::yield();
        int taken = 0;
        while (taken < 1'000'000 && there.try_post(&statistics::note, taken)) ++taken;
        EXPECT_LT(taken, 1'000'000);
        EXPECT_GE(taken, 60);
        is_full = true;
        EXPECT_EQ(there.call(&statistics::log).size(), static_cast<std::size_t>(taken));
        EXPECT_TRUE(there.try_post(&statistics::note, taken));
      });
    });
  });
}

}  // namespace

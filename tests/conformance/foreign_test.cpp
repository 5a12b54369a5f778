// SPDX-License-Identifier: Apache-2.0
// foreign<T>: usable wherever it is sent, never copied, and destroyed once, on its own worker.
#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "setups.hpp"

namespace {

using namespace conformance;
using creek::core_id;
using creek::foreign;
using creek::make_foreign;
using creek::make_on;
using creek::remote;

/// Numbers of objects created, and of those destroyed, by worker.
struct record {
  std::atomic<int> made{0}, at_home{0}, elsewhere{0}, outside{0};
  int destroyed() const { return at_home + elsewhere + outside; }
};

/// An object that can be neither copied nor moved.
struct pinned {
  explicit pinned(record& to) : record_(&to) { ++to.made; }
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;
  ~pinned() {
    const int here = creek::this_worker();
    ++(here < 0 ? record_->outside : here == home_ ? record_->at_home : record_->elsewhere);
  }
  pinned* self() { return this; }
  std::array<int, 100> values{};

 private:
  record* record_;
  int home_ = creek::this_worker();
};

class Foreign : public Conformance {
 protected:
  core_id last() const { return core_id{static_cast<int>(GetParam().workers) - 1}; }
  /// Expects all objects to be destroyed, on their own workers where the backend has fixed ones.
  void expect_all_at_home(const record& seen) const {
    EXPECT_EQ(seen.destroyed(), seen.made.load());
    EXPECT_EQ(seen.outside.load(), 0);
    if (GetParam().backend != "tbb") {
      EXPECT_EQ(seen.elsewhere.load(), 0);
    }
  }
};
CONFORMANCE(Foreign);

static_assert(!std::is_copy_constructible_v<foreign<int>>);
static_assert(std::is_nothrow_move_constructible_v<foreign<pinned>>);

TEST_P(Foreign, TravelsByPointer) {
  record seen;
  in_each_runtime([&] {
    foreign<pinned> mine = make_foreign<pinned>(seen);
    EXPECT_EQ(mine.core(), core_id{creek::this_worker()});
    pinned* const place = mine.get();
    // Sends objects there and back, as an argument and a result.
    mine = creek::call_on(
        last(),
        [place](foreign<pinned> came) {
          came->values[7] = 3;
          EXPECT_EQ(came->self(), place);
          return came;
        },
        std::move(mine));
    EXPECT_EQ(mine.get(), place);
    EXPECT_EQ((*mine).values[7], 3);
    // Uses an object of another worker.
    foreign<pinned> theirs =
        creek::async_on(last(), [&] { return make_foreign<pinned>(seen); }).get();
    if (GetParam().backend != "tbb") {
      EXPECT_EQ(theirs.core(), last());
    }
    theirs->values[0] = 1;
  });
  expect_all_at_home(seen);
  EXPECT_GT(seen.made.load(), 0);
}

TEST_P(Foreign, IsDestroyedAtHomeByWhoeverLetsGo) {
  record seen;
  on_each_runtime([&](creek::runtime& rt) {
    const remote<int> there = rt.run([&] { return make_on<int>(last(), 0); });
    rt.run([&] {
      there.post([](int&, foreign<pinned>) {}, make_foreign<pinned>(seen));
      there.call([](int&, foreign<pinned> came) { came.reset(); }, make_foreign<pinned>(seen));
      creek::task_group group;
      for (int i = 0; i < 20; ++i) {
        group.spawn([mine = make_foreign<pinned>(seen)]() mutable { mine->values[0] = 1; });
      }
      group.wait();
      foreign<pinned> one = make_foreign<pinned>(seen);
      one = make_foreign<pinned>(seen);
      EXPECT_TRUE(one);
      const foreign<pinned> none = std::exchange(one, {});
      EXPECT_FALSE(one);
    });
    // Destroys them on a thread outside the runtime.
    std::vector<foreign<pinned>> taken = rt.run([&] {
      std::vector<foreign<pinned>> made;
      for (int i = 0; i < 10; ++i) made.push_back(make_foreign<pinned>(seen));
      return made;
    });
    std::thread([dropped = std::move(taken)] {}).join();
  });
  expect_all_at_home(seen);
}

TEST_P(Foreign, IsDestroyedWithWhatHoldsIt) {
  record seen;
  std::vector<remote<foreign<pinned>>> kept;
  in_each_runtime([&] {
    // Objects that the runtime's end destroys, each of which holds one of the neighbour's.
    kept.clear();
    for (int i = 0; i <= last().value; ++i) {
      const core_id next{(i + 1) % (last().value + 1)};
      foreign<pinned> made = creek::call_on(next, [&] { return make_foreign<pinned>(seen); });
      kept.push_back(make_on<foreign<pinned>>(core_id{i}, std::move(made)));
    }
  });
  expect_all_at_home(seen);
}

TEST_P(Foreign, MayOutliveItsRuntime) {
  for (const creek::scheduler_options& options : variants(GetParam())) {
    record seen;
    foreign<pinned> left, other;
    {
      creek::runtime rt = make_runtime(options, GetParam().backend);
      left = rt.run([&] { return make_foreign<pinned>(seen); });
      other = rt.run(
          [&] { return creek::call_on(last(), [&] { return make_foreign<pinned>(seen); }); });
    }
    EXPECT_EQ(seen.destroyed(), 0);
    left->values[99] = 1;
    left.reset();
    EXPECT_EQ(seen.outside.load(), 1);
    // ... and in a task of another runtime.
    creek::runtime next = make_runtime(options, GetParam().backend);
    next.run([mine = std::move(other)] {});
  }
}

TEST_P(Foreign, FindsAFullMailbox) {
  if (GetParam().workers == 1) GTEST_SKIP() << "nobody is away from home";
  record seen;
  in_each_runtime([&] {
    // Sends more than a ring holds; on host while the worker is busy, until its ring is full.
    const bool busy = is_host();
    const int many = is_simulated() ? 60 : 1000;
    std::vector<foreign<pinned>> made = creek::call_on(last(), [&] {
      std::vector<foreign<pinned>> all;
      for (int i = 0; i < many; ++i) all.push_back(make_foreign<pinned>(seen));
      return all;
    });
    std::atomic<int> dropped{0};
    creek::future<void> blocker = creek::async_on(last(), [&] {
      while (busy && dropped.load() < 200) std::this_thread::yield();
    });
    creek::call_on(core_id{0}, [&] {
      for (auto& each : made) {
        each.reset();
        ++dropped;
      }
    });
    blocker.get();
  });
  expect_all_at_home(seen);
}

TEST_P(Foreign, AdoptsAndRefuses) {
  record seen;
  in_each_runtime([&] {
    const foreign<pinned> adopted = creek::adopt_foreign(std::make_unique<pinned>(seen));
    EXPECT_TRUE(adopted);
    EXPECT_FALSE(creek::adopt_foreign(std::unique_ptr<pinned>{}));
    struct bad {
      bad() { throw failure{4}; }
    };
    EXPECT_EQ(failure_of([] { (void)make_foreign<bad>(); }), 4);
  });
  expect_all_at_home(seen);
  EXPECT_THROW((void)make_foreign<pinned>(seen), creek::usage_error) << "no runtime here";
  EXPECT_EQ(seen.destroyed(), seen.made.load());
}

}  // namespace

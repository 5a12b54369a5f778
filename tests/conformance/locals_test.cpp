// SPDX-License-Identifier: Apache-2.0
// The worker that a task runs on, and storage that follows the task or stays with the worker.
#include <set>
#include <vector>

#include "setups.hpp"

namespace {

using namespace conformance;

class Locals : public Conformance {};
CONFORMANCE(Locals);

TEST_P(Locals, WorkersHaveNumbers) {
  EXPECT_EQ(creek::this_worker(), -1);
  EXPECT_EQ(creek::worker_count(), 1U);
  on_each_runtime([&](creek::runtime& rt) {
    const int workers = static_cast<int>(GetParam().workers);
    EXPECT_EQ(static_cast<int>(rt.worker_count()), workers);
    rt.run([&] {
      EXPECT_EQ(static_cast<int>(creek::worker_count()), workers);
      std::atomic<int> outside{0};
      for (int i = 0; i < 100; ++i) {
        creek::spawn([&] {
          const int here = creek::this_worker();
          if (here < 0 || here >= workers) ++outside;
        });
      }
      creek::taskwait();
      EXPECT_EQ(outside, 0);
    });
    EXPECT_EQ(creek::this_worker(), -1);
  });
}

TEST_P(Locals, EveryTaskHasItsOwnCopy) {
  in_each_runtime([] {
    const creek::task_local<int> local(5);
    EXPECT_EQ(*local, 5);
    *local = 6;
    std::atomic<int> wrong{0};
    for (int i = 0; i < 20; ++i) {
      creek::spawn([&, i] {
        if (*local != 5) ++wrong;
        *local = 100 + i;
        creek::fork_join([] {}, [] {});
        creek::async([&] {
          if (*local != 5) ++wrong;
        }).get();
        if (*local != 100 + i) ++wrong;
      });
    }
    creek::taskwait();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(*local, 6);
  });
}

TEST_P(Locals, FollowTheTaskAcrossWaits) {
  in_each_runtime([] {
    const creek::task_local<int> local;
    creek::promise<void> promise;
    auto gate = promise.get_future();
    std::atomic<int> right{0};
    for (int i = 1; i <= 20; ++i) {
      creek::spawn([&, i] {
        *local = i;
        gate.wait();
        if (*local == i) ++right;
      });
    }
    creek::spawn([&] { promise.set_value(); });
    creek::taskwait();
    EXPECT_EQ(right, 20);
  });
}

TEST_P(Locals, EndWithTheTask) {
  struct instance : counted {
    using counted::counted;
  };
  on_each_runtime([](creek::runtime& rt) {
    std::atomic<int> alive{0};
    {
      const creek::task_local<counted> local{counted(alive)};
      rt.run([&] {
        for (int i = 0; i < 10; ++i) creek::spawn([&] { static_cast<void>(local.get()); });
        creek::taskwait();
        EXPECT_EQ(alive, 1);
        static_cast<void>(local.get());
        EXPECT_EQ(alive, 2);
      });
      EXPECT_EQ(alive, 1);
    }
    EXPECT_EQ(alive, 0);
  });
}

TEST_P(Locals, OutsideATaskIsMisuse) {
  const creek::task_local<int> local;
  EXPECT_THROW(static_cast<void>(local.get()), creek::usage_error);
}

TEST_P(Locals, WorkerLocalsAddUp) {
  in_each_runtime([] {
    creek::worker_local<long> sums;
    for (int i = 1; i <= 200; ++i) creek::spawn([&, i] { sums.local() += i; });
    creek::taskwait();
    EXPECT_EQ(sums.combine([](long a, long b) { return a + b; }), 20100);
    int visited = 0;
    sums.for_each([&](long) { ++visited; });
    EXPECT_EQ(visited, static_cast<int>(creek::worker_count()));
  });
}

TEST_P(Locals, WorkerLocalsOfASmallerRuntimeAreMisuse) {
  creek::worker_local<int> for_one_worker;
  on_each_runtime([&](creek::runtime& rt) {
    rt.run([&] {
      for (int i = 0; i < 20; ++i) {
        creek::spawn([&] {
          if (creek::this_worker() > 0) {
            EXPECT_THROW(for_one_worker.local(), creek::usage_error);
          }
        });
      }
      creek::taskwait();
    });
  });
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// task_group: joining, cancelling, exceptions, and which tasks may spawn and wait.
#include <atomic>
#include <optional>
#include <stop_token>

#include "setups.hpp"

namespace {

using namespace conformance;

class TaskGroup : public Conformance {};
CONFORMANCE(TaskGroup);

TEST_P(TaskGroup, WaitsForItsTasksAndMayBeUsedAgain) {
  in_each_runtime([] {
    creek::task_group group;
    group.wait();
    std::atomic<int> ran{0};
    for (int round = 1; round <= 5; ++round) {
      for (int i = 0; i < 20; ++i) group.spawn([&] { ++ran; });
      group.wait();
      EXPECT_EQ(ran, 20 * round);
    }
  });
}

TEST_P(TaskGroup, DestructorJoins) {
  in_each_runtime([] {
    std::atomic<int> ran{0};
    {
      creek::task_group group;
      for (int i = 0; i < 20; ++i) group.spawn([&] { ++ran; });
    }
    EXPECT_EQ(ran, 20);
    EXPECT_EQ(failure_of([&] {
                creek::task_group group;
                for (int i = 0; i < 20; ++i) group.spawn([&] { ++ran; });
                throw failure{1};  // joins while the exception propagates
              }),
              1);
    EXPECT_EQ(ran, 40);
  });
}

TEST_P(TaskGroup, WaitRethrowsTheFirstExceptionOnce) {
  in_each_runtime([] {
    creek::task_group group;
    std::atomic<int> ran{0};
    for (int i = 0; i < 10; ++i) {
      group.spawn([&ran, i] {
        ++ran;
        if (i == 4) throw failure{4};
      });
    }
    EXPECT_EQ(failure_of([&] { group.wait(); }), 4);
    EXPECT_EQ(ran, 10);
    group.wait();
    group.spawn([&] { ++ran; });
    group.wait();
    EXPECT_EQ(ran, 11);
  });
}

TEST_P(TaskGroup, ATaskEndsWithAllThatItSpawned) {
  in_each_runtime([] {
    creek::task_group group;
    std::atomic<int> ran{0};
    for (int i = 0; i < 5; ++i) {
      group.spawn([&] {
        creek::spawn([&] {
          creek::spawn([&] { ++ran; });
          ++ran;
        });
      });
    }
    group.wait();
    EXPECT_EQ(ran, 10);
    group.spawn([] { creek::spawn([] { throw failure{2}; }); });
    EXPECT_EQ(failure_of([&] { group.wait(); }), 2);
  });
}

TEST_P(TaskGroup, TaskwaitDoesNotWaitForGroups) {
  in_each_runtime([] {
    creek::promise<void> promise;
    auto gate = promise.get_future();
    creek::task_group group;
    group.spawn([&] { gate.wait(); });
    creek::spawn([] {});
    creek::taskwait();
    promise.set_value();
    group.wait();
  });
}

TEST_P(TaskGroup, CancelSkipsWhatHasNotBegun) {
  in_each_runtime([] {
    creek::task_group group;
    std::atomic<int> ran{0};
    group.spawn([&] { ++ran; });
    group.wait();
    EXPECT_FALSE(group.is_cancelled());
    group.cancel();
    EXPECT_TRUE(group.is_cancelled());
    for (int i = 0; i < 10; ++i) group.spawn([&] { ++ran; });
    group.wait();
    EXPECT_EQ(ran, 1);
    group.reset();
    group.spawn([&] { ++ran; });
    group.wait();
    EXPECT_EQ(ran, 2);
  });
}

TEST_P(TaskGroup, RunningTasksSeeTheCancel) {
  in_each_runtime([] {
    creek::task_group group;
    creek::promise<void> begun, cancelled;
    auto has_begun = begun.get_future(), was_cancelled = cancelled.get_future();
    bool before = true, after = false;
    group.spawn([&] {
      before = group.is_cancelled();
      begun.set_value();
      was_cancelled.wait();
      after = group.is_cancelled();
    });
    creek::spawn([&] {
      has_begun.wait();
      group.cancel();
      cancelled.set_value();
    });
    group.wait();
    creek::taskwait();
    EXPECT_FALSE(before);
    EXPECT_TRUE(after);
  });
}

TEST_P(TaskGroup, DestroysTheClosuresOfCancelledTasks) {
  in_each_runtime([] {
    std::atomic<int> alive{0};
    creek::task_group group;
    group.cancel();
    for (int i = 0; i < 10; ++i) group.spawn([held = counted(alive)] {});
    group.wait();
    EXPECT_EQ(alive, 0);
  });
}

TEST_P(TaskGroup, StopTokenCancels) {
  in_each_runtime([] {
    std::stop_source source;
    std::atomic<int> ran{0};
    creek::task_group group(source.get_token());
    group.spawn([&] { ++ran; });
    group.wait();
    source.request_stop();
    EXPECT_TRUE(group.is_cancelled());
    group.spawn([&] { ++ran; });
    group.wait();
    EXPECT_EQ(ran, 1);
    creek::task_group late(source.get_token());
    EXPECT_TRUE(late.is_cancelled());
  });
}

TEST_P(TaskGroup, AnyTaskMaySpawnIntoIt) {
  in_each_runtime([] {
    creek::task_group outer, inner;
    std::atomic<int> ran{0};
    for (int i = 0; i < 8; ++i) {
      outer.spawn([&] {
        for (int k = 0; k < 5; ++k) inner.spawn([&] { ++ran; });
      });
    }
    outer.wait();
    inner.wait();
    EXPECT_EQ(ran, 40);
  });
}

TEST_P(TaskGroup, TasksMaySpawnIntoTheirOwnGroup) {
  struct tree {
    static void grow(creek::task_group& group, std::atomic<int>& ran, int depth) {
      ++ran;
      if (depth == 0) return;
      for (int i = 0; i < 2; ++i) {
        group.spawn([&group, &ran, depth] { grow(group, ran, depth - 1); });
      }
    }
  };
  in_each_runtime([] {
    creek::task_group group;
    std::atomic<int> ran{0};
    tree::grow(group, ran, 6);
    group.wait();
    EXPECT_EQ(ran, 127);
  });
}

TEST_P(TaskGroup, GroupsNest) {
  struct nest {
    static int count(int depth) {
      if (depth == 0) return 1;
      int a = 0, b = 0;
      creek::task_group group;
      group.spawn([&a, depth] { a = count(depth - 1); });
      group.spawn([&b, depth] { b = count(depth - 1); });
      group.wait();
      return a + b;
    }
  };
  in_each_runtime([] { EXPECT_EQ(nest::count(7), 128); });
}

TEST_P(TaskGroup, MayBeMadeOnAForeignThread) {
  on_each_runtime([](creek::runtime& rt) {
    creek::task_group group;
    std::atomic<int> ran{0};
    rt.run([&] {
      for (int i = 0; i < 20; ++i) group.spawn([&] { ++ran; });
    });
    group.wait();
    EXPECT_EQ(ran, 20);
    rt.run([&] {
      group.spawn([] { throw failure{3}; });
      EXPECT_EQ(failure_of([&] { group.wait(); }), 3);
    });
  });
}

TEST_P(TaskGroup, SpawnOutsideARuntimeIsMisuse) {
  creek::task_group group;
  EXPECT_THROW(group.spawn([] {}), creek::usage_error);
  group.wait();
}

TEST_P(TaskGroup, WaitInAnotherStrandIsMisuseOnHost) {
  if (!is_host()) GTEST_SKIP() << "other backends allow it";
  on_each_runtime([](creek::runtime& rt) {
    std::optional<creek::task_group> group;
    rt.run([&] { group.emplace(); });
    EXPECT_THROW(group->wait(), creek::usage_error);
    group.reset();
  });
}

}  // namespace

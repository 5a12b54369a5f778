// SPDX-License-Identifier: Apache-2.0
// spawn, taskwait, taskbarrier: which children are waited for, and where exceptions are rethrown.
#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "setups.hpp"

namespace {

using namespace conformance;

class Spawn : public Conformance {};
CONFORMANCE(Spawn);

/// Spawns a tree without waiting; every node counts.
void grow(std::atomic<int>& nodes, int depth, int width) {
  ++nodes;
  if (depth == 0) return;
  for (int i = 0; i < width; ++i) {
    creek::spawn([&nodes, depth, width] { grow(nodes, depth - 1, width); });
  }
}

constexpr int tree_nodes(int depth, int width) {
  return depth == 0 ? 1 : 1 + width * tree_nodes(depth - 1, width);
}

TEST_P(Spawn, TaskwaitWaitsForTheChildren) {
  in_each_runtime([] {
    for (const int children : {0, 1, 2, 100}) {
      std::atomic<int> ran{0};
      for (int i = 0; i < children; ++i) creek::spawn([&] { ++ran; });
      creek::taskwait();
      EXPECT_EQ(ran, children);
    }
  });
}

TEST_P(Spawn, TaskwaitLeavesTheGrandchildren) {
  in_each_runtime([] {
    creek::promise<void> promise;
    auto gate = promise.get_future();
    std::atomic<bool> grandchild_ended{false};
    creek::spawn([&] {
      creek::spawn([&] {
        gate.wait();
        grandchild_ended = true;
      });
    });
    creek::taskwait();  // would never finish if it waited for the grandchild
    EXPECT_FALSE(grandchild_ended);
    promise.set_value();
    creek::taskbarrier();
    EXPECT_TRUE(grandchild_ended);
  });
}

TEST_P(Spawn, TaskbarrierWaitsForAllDescendants) {
  in_each_runtime([] {
    std::atomic<int> nodes{0};
    grow(nodes, 4, 3);
    creek::taskbarrier();
    EXPECT_EQ(nodes, tree_nodes(4, 3));
    grow(nodes, 1, 2);
    creek::taskbarrier();
    EXPECT_EQ(nodes, tree_nodes(4, 3) + tree_nodes(1, 2));
  });
}

TEST_P(Spawn, RunWaitsForWhatNobodyWaitedFor) {
  on_each_runtime([](creek::runtime& rt) {
    std::atomic<int> nodes{0};
    rt.run([&] { grow(nodes, 5, 2); });
    EXPECT_EQ(nodes, tree_nodes(5, 2));
  });
}

TEST_P(Spawn, EveryTaskWaitsForItsOwnChildren) {
  struct node {
    static int count(int depth) {
      if (depth == 0) return 1;
      std::array<int, 3> below{};
      for (int& each : below) creek::spawn([&each, depth] { each = count(depth - 1); });
      creek::taskwait();
      return 1 + below[0] + below[1] + below[2];
    }
  };
  in_each_runtime([] { EXPECT_EQ(node::count(5), tree_nodes(5, 3)); });
}

TEST_P(Spawn, RunsTasksBeforeTheirMakerEndsWhenTheDequeIsFull) {
  for (const std::uint32_t capacity : {2U, 3U, 7U}) {
    in_each_runtime(
        [] {
          std::atomic<int> ran{0};
          for (int i = 0; i < 50; ++i) creek::spawn([&] { ++ran; });
          grow(ran, 3, 3);
          creek::taskbarrier();
          EXPECT_EQ(ran, 50 + tree_nodes(3, 3));
        },
        capacity);
  }
}

TEST_P(Spawn, HoldsMoreTasksThanTheDequeHas) {
  in_each_runtime([] {
    std::atomic<int> ran{0};
    for (int i = 0; i < 3000; ++i) creek::spawn([&] { ++ran; });
    creek::taskwait();
    EXPECT_EQ(ran, 3000);
  });
}

TEST_P(Spawn, TakesClosuresOfEverySizeAndKind) {
  struct throws_when_copied_at_will {
    int value;
    explicit throws_when_copied_at_will(int v) : value(v) {}
    throws_when_copied_at_will(const throws_when_copied_at_will& other) noexcept(false)
        : value(other.value) {}
  };
  in_each_runtime([] {
    std::atomic<int> sum{0};
    auto owned = std::make_unique<int>(1);
    creek::spawn([&sum, owned = std::move(owned)] { sum += *owned; });
    std::array<int, 64> large{};
    large.back() = 10;
    creek::spawn([&sum, large] { sum += large.back(); });
    const throws_when_copied_at_will value(100);
    creek::spawn([&sum, value] { sum += value.value; });
    struct alignas(64) wide {
      int value = 1000;
    };
    creek::spawn([&sum, w = wide()] {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&w) % 64, 0U);
      sum += w.value;
    });
    auto named = [&sum, calls = 0]() mutable { sum += 10000 * ++calls; };
    creek::spawn(named);
    creek::spawn(named);
    creek::taskwait();
    EXPECT_EQ(sum, 21111);
  });
}

TEST_P(Spawn, DestroysClosuresBeforeTheWaitReturns) {
  in_each_runtime([] {
    std::atomic<int> alive{0};
    for (int round = 0; round < 20; ++round) {
      for (int i = 0; i < 10; ++i) creek::spawn([held = counted(alive)] {});
      creek::taskwait();
      ASSERT_EQ(alive, 0);
    }
  });
}

TEST_P(Spawn, TaskwaitRethrowsOneAfterAllHaveEnded) {
  in_each_runtime([] {
    std::atomic<int> ended{0};
    for (int i = 0; i < 10; ++i) {
      creek::spawn([&ended, i] {
        ++ended;
        if (i >= 5) throw failure{i};
      });
    }
    const int caught = failure_of([] { creek::taskwait(); });
    EXPECT_EQ(ended, 10);
    EXPECT_GE(caught, 5);
    EXPECT_LT(caught, 10);
    creek::taskwait();  // it was rethrown once
    creek::spawn([&] { ++ended; });
    creek::taskwait();
    EXPECT_EQ(ended, 11);
  });
}

TEST_P(Spawn, RunRethrowsWhatNobodyWaitedFor) {
  on_each_runtime([](creek::runtime& rt) {
    EXPECT_EQ(failure_of([&] { rt.run([] { creek::spawn([] { throw failure{1}; }); }); }), 1);
    EXPECT_EQ(failure_of([&] {
                rt.run([] { creek::spawn([] { creek::spawn([] { throw failure{2}; }); }); });
              }),
              2);
    EXPECT_EQ(failure_of([&] {
                rt.run([] {
                  creek::spawn([] { throw failure{3}; });
                  throw failure{4};
                });
              }),
              4);
    EXPECT_EQ(rt.run([] { return 5; }), 5);
  });
}

TEST_P(Spawn, TaskbarrierRethrowsOfTasksWhoseParentsHaveEnded) {
  in_each_runtime([] {
    creek::spawn([] { creek::spawn([] { throw failure{6}; }); });
    EXPECT_EQ(failure_of([] { creek::taskbarrier(); }), 6);
    creek::taskbarrier();
  });
}

TEST_P(Spawn, TaskbarrierOutsideTheRootTaskIsMisuse) {
  in_each_runtime([] {
    creek::spawn([] { EXPECT_THROW(creek::taskbarrier(), creek::usage_error); });
    creek::taskwait();
  });
}

TEST_P(Spawn, BranchesBelongToTheTaskThatForked) {
  in_each_runtime([] {
    std::atomic<int> ran{0};
    const auto spawn_three = [&] {
      for (int i = 0; i < 3; ++i) creek::spawn([&] { ++ran; });
    };
    creek::fork_join(spawn_three, spawn_three);
    creek::taskwait();
    EXPECT_EQ(ran, 6);
  });
}

void spawn_in_branches(std::atomic<int>& ran, int depth) {
  creek::spawn([&] { ++ran; });
  if (depth == 0) return;
  creek::fork_join([&, depth] { spawn_in_branches(ran, depth - 1); },
                   [&, depth] { spawn_in_branches(ran, depth - 1); });
}

TEST_P(Spawn, StolenBranchesWaitForWhatTheySpawn) {
  in_each_runtime([] {
    for (int round = 0; round < 3; ++round) {
      std::atomic<int> ran{0};
      spawn_in_branches(ran, 6);
      creek::taskwait();
      EXPECT_EQ(ran, 127);
    }
  });
}

TEST_P(Spawn, BranchesMayWaitForTheirOwnChildren) {
  in_each_runtime([] {
    const auto branch = [](int width) {
      return [width] {
        std::atomic<int> ran{0};
        for (int i = 0; i < width; ++i) creek::spawn([&] { ++ran; });
        creek::taskwait();
        return ran.load();
      };
    };
    for (int round = 0; round < 10; ++round) {
      EXPECT_EQ(creek::fork_join(branch(5), branch(7)), std::pair(5, 7));
    }
  });
}

TEST_P(Spawn, ExceptionsOfABranchsChildrenComeOut) {
  on_each_runtime([](creek::runtime& rt) {
    // fork_join rethrows it if the branch was stolen, otherwise taskwait does.
    EXPECT_EQ(failure_of([&] {
                rt.run([] {
                  creek::fork_join([] {}, [] { creek::spawn([] { throw failure{8}; }); });
                  creek::taskwait();
                });
              }),
              8);
  });
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Random trees of forks and spawned tasks in which some throw, while thieves steal and creators
// wait: the sum of the tasks that did not throw is right, and an exception comes out exactly where
// one was thrown below. CREEK_TEST_SEED replays a run, CREEK_TEST_ROUNDS makes more.
#include <gtest/gtest.h>

#include <atomic>
#include <iostream>
#include <random>
#include <thread>

#include <creek/host.hpp>
#include <creek/tasking.hpp>

#include "support/seed.hpp"

namespace creek::support {
namespace {

struct failure {
  int where;
};

/// Tree whose actions are a function of its seed: the result is known without running it as a task.
class tree {
 public:
  explicit tree(std::uint64_t seed) : seed_(seed) {}

  bool throws_itself() const { return drawn(1) % 32 == 0; }
  bool yields() const { return drawn(2) % 8 == 0; }
  unsigned kind() const { return static_cast<unsigned>(drawn(3) % 3); }
  tree child(std::uint64_t index) const { return tree(drawn(4 + index)); }

 private:
  std::uint64_t drawn(std::uint64_t which) const {  // splitmix64
    std::uint64_t x = seed_ + which * 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
  }
  std::uint64_t seed_;
};

/// Returns whether this tree throws a failure.
bool fails(tree t, int depth) {
  if (t.throws_itself()) return true;
  if (depth == 0) return false;
  const bool left = fails(t.child(0), depth - 1), right = fails(t.child(1), depth - 1);
  return left || right;
}

std::atomic<int> wrong{0};

void run_tree(tree t, int depth);

/// Runs a child, compares it with the expected result, and rethrows its failure.
void checked(tree t, int depth) {
  bool failed = false;
  try {
    run_tree(t, depth);
  } catch (const failure& seen) {
    failed = true;
    if (seen.where < 0) wrong.fetch_add(1);
  }
  if (failed != fails(t, depth)) wrong.fetch_add(1);
  if (failed) throw failure{depth};
}

void run_tree(tree t, int depth) {
  const bool throws = t.throws_itself();
  if (t.yields()) std::this_thread::yield();
  if (depth > 0) {
    const tree left = t.child(0), right = t.child(1);
    switch (t.kind()) {
      case 0:
        fork_join([&] { checked(left, depth - 1); }, [&] { checked(right, depth - 1); });
        break;
      case 1:
        spawn([=] { checked(left, depth - 1); });
        spawn([=] { checked(right, depth - 1); });
        taskwait();
        break;
      default: {
        auto later = async([=] { checked(right, depth - 1); });
        bool failed = false;
        try {
          checked(left, depth - 1);
        } catch (const failure&) {
          failed = true;
        }
        later.get();
        if (failed) throw failure{depth};
      }
    }
  }
  if (throws) throw failure{depth};
}

TEST(exceptions_stress, come_out_where_they_belong) {
  const std::uint64_t seed = chosen_seed();
  const std::uint64_t rounds = number_from("CREEK_TEST_ROUNDS", 150);
  std::cout << "replay with CREEK_TEST_SEED=" << seed << "\n";
  runtime rt{host(3)};
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const tree root(seed + round);
    bool failed = false;
    try {
      rt.run([&] { checked(root, 7); });
    } catch (const failure&) {
      failed = true;
    }
    ASSERT_EQ(failed, fails(root, 7)) << "round " << round;
    ASSERT_EQ(wrong.load(), 0) << "round " << round;
  }
}

/// A creator that waits for children looks at its deque while the thief of its open fork fails.
TEST(exceptions_stress, meet_makers_that_wait) {
  runtime rt{host(3)};
  rt.run([] {
    for (int round = 0; round < 500; ++round) {
      int caught = 0;
      try {
        fork_join(
            [] {
              for (int i = 0; i < 20; ++i) {
                spawn([] { std::this_thread::yield(); });
                taskwait();
              }
            },
            [round] { throw failure{round}; });
      } catch (const failure& seen) {
        caught = seen.where == round ? 1 : 2;
      }
      ASSERT_EQ(caught, 1);
    }
  });
}

}  // namespace
}  // namespace creek::support

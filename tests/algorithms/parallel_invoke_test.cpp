// SPDX-License-Identifier: Apache-2.0
// parallel_invoke: calls every callable once; rethrows failures after all have finished.
#include <creek/tasking/parallel_invoke.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>

#include "on_workers.hpp"

namespace {

using creek::parallel_invoke;
using creek::support::on_workers;

TEST(parallel_invoke, calls_each_once) {
  on_workers([] {
    std::atomic<int> sum{0};
    parallel_invoke();
    parallel_invoke([&] { sum += 1; });
    parallel_invoke([&] { sum += 10; }, [&] { sum += 20; });
    parallel_invoke([&] { sum += 100; }, [&] { sum += 200; }, [&] { sum += 300; },
                    [&] { sum += 400; }, [&] { sum += 500; });
    EXPECT_EQ(sum.load(), 1531);
  });
}

TEST(parallel_invoke, takes_results_references_and_move_only_callables) {
  on_workers([] {
    std::atomic<int> sum{0};
    auto named = [&]() mutable { return sum += 1; };
    const auto owner = std::make_unique<int>(5);
    parallel_invoke(
        named, [&, own = std::make_unique<int>(7)] { sum += *own; },
        [&]() -> const std::unique_ptr<int>& { return owner; });
    EXPECT_EQ(sum.load(), 8);
  });
}

TEST(parallel_invoke, runs_the_others_when_one_throws) {
  on_workers([] {
    std::atomic<int> ran{0};
    const auto count = [&] { ++ran; };
    EXPECT_THROW(parallel_invoke(
                     count, [] { throw std::runtime_error("second"); }, count, count),
                 std::runtime_error);
    EXPECT_EQ(ran.load(), 3);
  });
}

TEST(parallel_invoke, nests) {
  on_workers([] {
    std::atomic<int> leaves{0};
    struct tree {
      std::atomic<int>& leaves;
      void grow(int depth) {
        if (depth == 0) {
          ++leaves;
          return;
        }
        const auto child = [&] { grow(depth - 1); };
        parallel_invoke(child, child, child);
      }
    };
    tree{leaves}.grow(7);
    EXPECT_EQ(leaves.load(), 2187);
  });
}

}  // namespace

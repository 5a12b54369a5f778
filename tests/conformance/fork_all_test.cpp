// SPDX-License-Identifier: Apache-2.0
// fork_all: every index once, results, exceptions, nesting, full deques.
#include <array>
#include <atomic>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "setups.hpp"
#include "support/few_cases.hpp"

namespace {

using namespace conformance;

class ForkAll : public Conformance {};
CONFORMANCE(ForkAll);

TEST_P(ForkAll, CallsEachIndexOnce) {
  in_each_runtime([] {
    for (const std::size_t n : {0U, 1U, 2U, 3U, 31U, 32U, 33U, 64U, 100U, 1000U}) {
      std::vector<std::atomic<int>> calls(n);
      creek::fork_all(n, [&](std::size_t i) { ++calls.at(i); });
      for (const auto& each : calls) EXPECT_EQ(each.load(), 1) << n;
    }
  });
}

TEST_P(ForkAll, ReturnsResultsInTheirOrder) {
  in_each_runtime([] {
    const std::array<int, 5> squares =
        creek::fork_all<5>([](std::size_t i) { return static_cast<int>(i * i); });
    EXPECT_EQ(squares, (std::array<int, 5>{0, 1, 4, 9, 16}));
    auto owned =
        creek::fork_all<40>([](std::size_t i) { return std::make_unique<std::size_t>(i); });
    for (std::size_t i = 0; i < owned.size(); ++i) EXPECT_EQ(*owned[i], i);
    const std::array<bool, 3> flags = creek::fork_all<3>([](std::size_t i) { return i != 1; });
    EXPECT_EQ(flags, (std::array<bool, 3>{true, false, true}));
    EXPECT_TRUE(creek::fork_all<0>([](std::size_t) { return 1; }).empty());
  });
}

std::uint64_t leaves(int depth) {
  if (depth == 0) return 1;
  const auto below = creek::fork_all<7>([=](std::size_t) { return leaves(depth - 1); });
  return std::accumulate(below.begin(), below.end(), std::uint64_t{0});
}

TEST_P(ForkAll, NestsWithFullDequesToo) {
  constexpr int depth = creek::support::few_cases ? 3 : 4;
  static constexpr std::uint64_t wanted = creek::support::few_cases ? 343 : 2401;
  for (const std::uint32_t capacity : {2U, 3U, 9U, 2048U}) {
    in_each_runtime([] { EXPECT_EQ(leaves(depth), wanted); }, capacity);
  }
}

TEST_P(ForkAll, RethrowsTheExceptionOfTheLowestIndexAfterAllHaveEnded) {
  in_each_runtime([] {
    for (const std::size_t n : {1U, 5U, 32U, 200U}) {
      for (const std::size_t first : {std::size_t{0}, n / 2, n - 1}) {
        std::atomic<std::size_t> ended{0};
        std::string thrown;
        try {
          creek::fork_all(n, [&](std::size_t i) {
            ++ended;
            if (i >= first) throw std::runtime_error(std::to_string(i));
          });
        } catch (const std::runtime_error& failure) {
          thrown = failure.what();
        }
        EXPECT_EQ(thrown, std::to_string(first)) << n;
        EXPECT_EQ(ended.load(), n);
      }
    }
  });
}

TEST_P(ForkAll, LeavesTasksOfItsCallsToTheTaskThatCalledIt) {
  in_each_runtime([] {
    std::atomic<int> ended{0};
    creek::fork_all(20, [&](std::size_t) {
      for (int i = 0; i < 10; ++i) creek::spawn([&] { ++ended; });
    });
    creek::taskwait();
    EXPECT_EQ(ended.load(), 200);
  });
}

TEST_P(ForkAll, LetsCallsWaitForEarlierOnes) {
  in_each_runtime([] {
    constexpr std::size_t n = 20;
    std::vector<creek::promise<void>> promises(n);
    std::vector<creek::future<void>> done;
    for (auto& each : promises) done.push_back(each.get_future());
    creek::fork_all(n, [&](std::size_t i) {
      if (i > 0) done[i - 1].get();
      promises[i].set_value();
    });
    done.back().get();
  });
}

TEST_P(ForkAll, DoesNotCopyItsFunction) {
  struct counts_calls {
    counts_calls() = default;
    counts_calls(const counts_calls&) = delete;
    counts_calls& operator=(const counts_calls&) = delete;
    void operator()(std::size_t) { ++calls; }
    std::atomic<int> calls{0};
  };
  in_each_runtime([] {
    counts_calls function;
    creek::fork_all(50, function);
    EXPECT_EQ(function.calls.load(), 50);
  });
}

TEST(ForkAllOutsideOfARuntime, IsRefused) {
  EXPECT_THROW(creek::fork_all(2, [](std::size_t) {}), creek::usage_error);
  creek::fork_all(0, [](std::size_t) {});
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// The parallel algorithms on every backend; tests/algorithms tests their details.
#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "setups.hpp"

namespace {

using namespace conformance;

class Algorithms : public Conformance {};
CONFORMANCE(Algorithms);

const std::vector<int> sizes{0, 1, 2, 3, 100, 4097};

TEST_P(Algorithms, ParallelForVisitsEveryIndexOnce) {
  in_each_runtime([] {
    for (const int n : sizes) {
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(n));
      creek::parallel_for(0, n, [&](int i) { ++visits[static_cast<std::size_t>(i)]; });
      creek::parallel_for(visits.begin(), visits.end(), [](std::atomic<int>& each) { each += 10; });
      creek::parallel_for(0, n, [&](int i) { visits[static_cast<std::size_t>(i)] += 100; },
                          {.grain = 3});
      EXPECT_TRUE(
          std::all_of(visits.begin(), visits.end(), [](const auto& v) { return v == 111; }));
    }
  });
}

TEST_P(Algorithms, ParallelForRethrows) {
  in_each_runtime([] {
    EXPECT_EQ(failure_of([] {
                creek::parallel_for(0, 1000, [](int i) {
                  if (i == 500) throw failure{i};
                });
              }),
              500);
  });
}

TEST_P(Algorithms, LoopsNest) {
  in_each_runtime([] {
    std::vector<long> rows(20);
    creek::parallel_for(std::size_t{0}, rows.size(), [&](std::size_t r) {
      rows[r] = creek::parallel_reduce(
          0L, 300L, 0L, [=](long c) { return c * static_cast<long>(r); }, std::plus{});
    });
    for (std::size_t r = 0; r < rows.size(); ++r) EXPECT_EQ(rows[r], 44850 * static_cast<long>(r));
  });
}

TEST_P(Algorithms, ParallelReduceKeepsTheOrder) {
  in_each_runtime([] {
    for (const int n : sizes) {
      if (n > 200) continue;
      std::string expected;
      for (int i = 0; i < n; ++i) expected += std::to_string(i) + ",";
      const auto text = creek::parallel_reduce(
          0, n, std::string(), [](int i) { return std::to_string(i) + ","; }, std::plus{});
      EXPECT_EQ(text, expected);
    }
  });
}

TEST_P(Algorithms, ParallelScanMatchesThePartialSums) {
  in_each_runtime([] {
    for (const int n : sizes) {
      std::vector<long> in(static_cast<std::size_t>(n)), out(in.size()), expected(in.size());
      std::iota(in.begin(), in.end(), 1);
      std::partial_sum(in.begin(), in.end(), expected.begin());
      creek::parallel_inclusive_scan(in.begin(), in.end(), out.begin());
      EXPECT_EQ(out, expected);
      std::exclusive_scan(in.begin(), in.end(), expected.begin(), 7L);
      creek::parallel_exclusive_scan(in.begin(), in.end(), out.begin(), 7L);
      EXPECT_EQ(out, expected);
    }
  });
}

TEST_P(Algorithms, ParallelSortSorts) {
  in_each_runtime([] {
    std::mt19937 random(7);
    for (const int n : {0, 1, 2, 1000, 20000}) {
      std::vector<int> values(static_cast<std::size_t>(n));
      for (int& v : values) v = static_cast<int>(random() % 1000);
      std::vector<std::string> texts;
      for (std::size_t i = 0; i < std::min<std::size_t>(values.size(), 3000); ++i) {
        texts.push_back(std::to_string(values[i]));
      }
      auto sorted = values;
      std::sort(sorted.begin(), sorted.end());
      creek::parallel_sort(values);
      EXPECT_EQ(values, sorted);
      auto sorted_texts = texts;
      std::sort(sorted_texts.begin(), sorted_texts.end(), std::greater<>());
      creek::parallel_sort(texts, std::greater<>());
      EXPECT_EQ(texts, sorted_texts);
    }
  });
}

TEST_P(Algorithms, ParallelStableSortKeepsEqualOnesInOrder) {
  in_each_runtime([] {
    std::mt19937 random(8);
    std::vector<std::pair<int, int>> values(5000);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = {static_cast<int>(random() % 50), static_cast<int>(i)};
    }
    auto sorted = values;
    std::sort(sorted.begin(), sorted.end());
    creek::parallel_stable_sort(values,
                                [](const auto& a, const auto& b) { return a.first < b.first; });
    EXPECT_EQ(values, sorted);
  });
}

TEST_P(Algorithms, ParallelInvokeCallsAll) {
  in_each_runtime([] {
    std::atomic<int> sum{0};
    creek::parallel_invoke([&] { sum += 1; }, [&] { sum += 10; }, [&] { sum += 100; },
                           [&] { sum += 1000; }, [&] { sum += 10000; });
    EXPECT_EQ(sum, 11111);
    EXPECT_EQ(failure_of([&] {
                creek::parallel_invoke([&] { ++sum; }, [] { throw failure{2}; }, [&] { ++sum; });
              }),
              2);
    EXPECT_EQ(sum, 11113);
  });
}

}  // namespace

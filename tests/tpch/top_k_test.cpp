// SPDX-License-Identifier: Apache-2.0
// The first k of an order, against sorting everything.
#include "tpch/operators/top_k.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <creek/tasking/runtime.hpp>
#include <functional>
#include <random>
#include <utility>
#include <vector>

namespace creek::tpch {
namespace {

using item = std::pair<int, std::size_t>;  // the second makes them different

std::vector<item> random_items(std::size_t n, int values) {
  std::mt19937_64 random(n);
  std::vector<item> items;
  for (std::size_t i = 0; i < n; ++i) {
    items.emplace_back(static_cast<int>(random() % static_cast<unsigned>(values)), i);
  }
  return items;
}

TEST(tpch_top_k, agrees_with_sorting_on_any_workers) {
  for (const std::size_t n : {0u, 1u, 7u, 10u, 11u, 20'000u}) {
    for (const int values : {1, 5, 1'000'000}) {
      const std::vector<item> items = random_items(n, values);
      for (const std::size_t k : {0u, 1u, 10u, 100u}) {
        std::vector<item> wanted = items;
        std::ranges::sort(wanted, std::greater{});
        wanted.resize(std::min(n, k));
        const auto first = [&] {
          return first_of(
              n, k, [&](std::size_t i) { return items[i]; }, std::greater{});
        };
        EXPECT_EQ(first(), wanted);
        for (const unsigned workers : {1u, 3u}) {
          EXPECT_EQ(runtime({.workers = workers}).run(first), wanted) << n << ' ' << k;
        }
      }
    }
  }
}

TEST(tpch_top_k, joins_what_two_kept) {
  const std::less<> before;
  top_k<int, std::less<>> left(3, before), right(3, before);
  for (const int i : {5, 1, 9, 7}) left.add(i);
  for (const int i : {8, 2, 6, 0}) right.add(i);
  left.add_all(std::move(right));
  EXPECT_EQ(left.take(), (std::vector{0, 1, 2}));
}

}  // namespace
}  // namespace creek::tpch

// SPDX-License-Identifier: Apache-2.0
// Aggregates by key against std::map: few and many groups, dense and sparse keys, each way of
// adding up, any number of workers.
#include "tpch/operators/group_sums.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <creek/tasking/runtime.hpp>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "chosen_keys.hpp"

namespace creek::tpch {
namespace {

struct keyed {
  std::int64_t key, value;
};

/// An aggregate that keeps everything the aggregates of the header keep.
struct everything {
  group_sum<std::int64_t> sum;
  group_least<std::int64_t> least;
  group_count count;

  void join(const everything& other) noexcept {
    sum.join(other.sum);
    least.join(other.least);
    count.join(other.count);
  }
  [[nodiscard]] bool any() const noexcept { return count.any(); }
};

struct listed {
  std::int64_t key, sum, least;
  std::uint64_t rows;
  friend bool operator==(const listed&, const listed&) = default;
};

/// Returns whether a row counts: every third one does not.
bool counts(std::size_t row) {
  return row % 3 != 0;
}

groups<everything> sums_of(const std::vector<keyed>& rows, key_range keys,
                           const group_limits& limits) {
  return group_sums<everything>(
      rows.size(), keys,
      [&](const row_block& block, auto&& emit) {
        for (std::size_t i = block.first; i < block.first + block.rows; ++i) {
          if (!counts(i)) continue;
          const std::int64_t value = rows[i].value;
          emit(rows[i].key, everything{{value, 1}, {value, 1}, {1}});
        }
      },
      limits);
}

void check(const std::vector<keyed>& rows, key_range keys, const group_limits& limits,
           const char* way) {
  std::map<std::int64_t, listed> wanted;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!counts(i)) continue;
    const auto [at, added] =
        wanted.try_emplace(rows[i].key, listed{rows[i].key, 0, rows[i].value, 0});
    at->second.sum += rows[i].value;
    at->second.least = std::min(at->second.least, rows[i].value);
    ++at->second.rows;
  }
  std::vector<listed> order;  // result of the first run
  const auto compare = [&] {
    const groups<everything> found = sums_of(rows, keys, limits);
    EXPECT_STREQ(found.way(), way);
    auto list =
        found.gather<listed>([](std::int64_t key, const everything& of, std::vector<listed>& to) {
          EXPECT_EQ(of.sum.rows, of.count.rows);
          to.push_back({key, of.sum.sum, of.least.least, of.count.rows});
        });
    if (order.empty()) order = list;
    EXPECT_EQ(list, order);
    std::ranges::sort(list, {}, &listed::key);
    std::vector<listed> all;
    for (const auto& [key, of] : wanted) all.push_back(of);
    ASSERT_EQ(list, all);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const everything* const of = found.find(rows[i].key);
      ASSERT_EQ(of != nullptr, wanted.contains(rows[i].key));
      if (of != nullptr) {
        ASSERT_EQ(of->sum.sum, wanted[rows[i].key].sum);
      }
    }
    for (const std::int64_t key : {keys.least, keys.greatest, std::int64_t{77}}) {
      ASSERT_EQ(found.find(key) != nullptr, wanted.contains(key)) << key;
    }
  };
  compare();
  for (const unsigned workers : {1u, 2u, 5u}) {
    runtime rt({.workers = workers});
    rt.run(compare);
  }
}

constexpr group_limits usual;
constexpr group_limits no_own_arrays{.array_bytes = 0};

std::vector<keyed> random_rows(std::size_t count, std::size_t groups, std::int64_t step,
                               std::int64_t from, bool sorted) {
  std::mt19937_64 random(count + groups);
  std::vector<keyed> rows(count);
  for (keyed& row : rows) {
    row.key = from + step * static_cast<std::int64_t>(random() % groups);
    row.value = static_cast<std::int64_t>(random() % 2000) - 1000;
  }
  if (sorted) std::ranges::sort(rows, {}, &keyed::key);
  return rows;
}

TEST(tpch_group_sums, any_number_of_groups) {
  for (const bool sorted : {false, true}) {
    for (const std::size_t groups : {1u, 7u, 1000u, 60'000u}) {
      const auto rows = random_rows(50'000, groups, 1, -500, sorted);
      const key_range keys{-500, -500 + static_cast<std::int64_t>(groups) - 1};
      check(rows, keys, usual, "an array");
      check(rows, keys, no_own_arrays, "an array");
    }
  }
}

TEST(tpch_group_sums, scattered_keys) {
  for (const std::int64_t step : {3'000'000'017, std::int64_t{1} << 44}) {
    for (const std::size_t groups : {2u, 1000u, 60'000u}) {
      const auto rows = random_rows(50'000, groups, step, -8'000'000'000, false);
      const key_range keys{-8'000'000'000,
                           -8'000'000'000 + step * static_cast<std::int64_t>(groups)};
      check(rows, keys, usual, "hash tables");
    }
  }
}

TEST(tpch_group_sums, the_whole_range_of_keys) {
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  constexpr auto highest = std::numeric_limits<std::int64_t>::max();
  std::vector<keyed> rows;
  for (std::int64_t i = 0; i < 300; ++i) {
    rows.push_back({i % 2 == 0 ? lowest + i % 5 : highest - i % 7, i});
  }
  check(rows, {lowest, highest}, usual, "hash tables");
}

TEST(tpch_group_sums, no_rows_and_none_that_count) {
  check({}, key_range::below(0), usual, "an array");
  check({}, {0, std::int64_t{1} << 40}, usual, "hash tables");
  check({{5, 1}}, {5, 5}, usual, "an array");
  check({{5, 1}}, {5, std::int64_t{1} << 40}, usual, "hash tables");
}

/// Counts how often a table asks whether a slot is taken.
struct asked_count {
  static inline std::atomic<std::uint64_t> asked{0};
  std::uint64_t rows = 0;

  void join(const asked_count& other) noexcept { rows += other.rows; }
  [[nodiscard]] bool any() const noexcept {
    asked.fetch_add(1, std::memory_order_relaxed);
    return rows != 0;
  }
};

TEST(tpch_group_sums, keys_chosen_to_have_one_hash) {
  // So many rows that there are several parts.
  for (const testing::chosen_keys& set : testing::chosen_key_sets(40'000)) {
    const std::vector<std::int64_t>& keys = set.keys;
    asked_count::asked = 0;
    const auto sums = group_sums<asked_count>(
        keys.size(), {keys.front(), keys.back()}, [&](const row_block& block, auto&& emit) {
          for (std::size_t i = block.first; i < block.first + block.rows; ++i) emit(keys[i], {1});
        });
    // Asked once when it is partitioned, once or twice to find its slot, and in a sweep over two to
    // four times as many slots.
    EXPECT_LT(asked_count::asked, 8 * keys.size()) << set.name;
    EXPECT_STREQ(sums.way(), "hash tables") << set.name;
    std::vector<std::int64_t> found =
        sums.gather<std::int64_t>([](std::int64_t key, const asked_count& of, auto& to) {
          EXPECT_EQ(of.rows, 1u);
          to.push_back(key);
        });
    std::ranges::sort(found);
    EXPECT_EQ(found, keys) << set.name;
  }
}

}  // namespace
}  // namespace creek::tpch

// SPDX-License-Identifier: Apache-2.0
// Key indexes against std::map, for dense and for sparse keys.
#include "tpch/operators/key_index.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <vector>

#include "chosen_keys.hpp"

namespace creek::tpch {
namespace {

void check(const std::vector<std::int64_t>& keys, bool dense,
           const std::vector<std::int64_t>& others) {
  const key_index index(keys);
  EXPECT_EQ(index.dense(), dense);
  EXPECT_EQ(index.size(), keys.size());
  std::map<std::int64_t, std::size_t> places;
  for (std::size_t i = 0; i < keys.size(); ++i) places[keys[i]] = i;
  for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(index.find(keys[i]), i);
  for (const std::int64_t other : others) {
    const auto at = places.find(other);
    ASSERT_EQ(index.find(other), at == places.end() ? key_index::absent : at->second) << other;
  }
}

constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
constexpr auto highest = std::numeric_limits<std::int64_t>::max();

TEST(tpch_key_index, empty_and_single) {
  check({}, true, {0, 1, -1, lowest, highest});
  for (const std::int64_t key : {std::int64_t{0}, std::int64_t{-7}, lowest, highest}) {
    check({key}, true, {0, 1, -7, -8, -6, lowest, highest});
  }
}

TEST(tpch_key_index, all_keys_of_a_range) {
  for (const std::int64_t least : {lowest, std::int64_t{-3}, highest - 9}) {
    std::vector<std::int64_t> keys;
    for (std::int64_t i = 0; i < 10; ++i) keys.push_back(least + i);
    check(keys, true, {lowest, lowest + 10, -4, 7, highest - 10, highest});
    EXPECT_EQ(key_index(keys).bytes(), 0u);
    const key_index same = key_index::consecutive(least, keys.size());
    for (const std::int64_t key : {lowest, lowest + 9, lowest + 10, -4L, -3L, 6L, 7L, highest}) {
      EXPECT_EQ(same.find(key), key_index(keys).find(key)) << key;
    }
  }
}

TEST(tpch_key_index, both_ends_of_the_range) {
  check({lowest, -1, 0, highest}, false, {lowest + 1, highest - 1, 1, -2});
}

TEST(tpch_key_index, random_sets) {
  std::mt19937_64 random(5);
  for (const std::uint64_t step : {1u, 3u, 100u, 1'000'000'000u}) {
    std::vector<std::int64_t> keys, others;
    std::int64_t key = -5000;
    for (int i = 0; i < 20'000; ++i) {
      key += 1 + static_cast<std::int64_t>(random() % step);
      (random() % 3 == 0 ? keys : others).push_back(key);
    }
    check(keys, step < 1'000'000, others);
  }
}

TEST(tpch_key_index, keys_chosen_to_have_one_hash) {
  for (const auto& [name, keys] : testing::chosen_key_sets(20'000)) {
    const key_index index(keys);
    EXPECT_FALSE(index.dense()) << name;
    EXPECT_LE(index.probes(), 2 * keys.size() + 64) << name;
    for (std::size_t i = 0; i < keys.size(); i += 99) ASSERT_EQ(index.find(keys[i]), i) << name;
  }
}

}  // namespace
}  // namespace creek::tpch

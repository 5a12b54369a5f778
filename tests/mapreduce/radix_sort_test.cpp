// SPDX-License-Identifier: Apache-2.0
// Grouping by radix sort, and merge sort, against std::sort.
#include <creek/mapreduce/detail/merge_sort.hpp>
#include <creek/mapreduce/engine/gather_pairs.hpp>
#include <creek/mapreduce/engine/radix_sort.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace creek::mapreduce {
namespace {

template <class Key>
void expect_sorted(std::vector<Key> keys) {
  std::vector<emitted<Key, int>> pairs;
  for (const Key& key : keys) pairs.push_back({key, 0});
  std::vector<pair_ref<Key, int>> refs;
  for (auto& pair : pairs) refs.push_back({0, &pair});
  sort_refs(refs);
  std::ranges::sort(keys);
  ASSERT_EQ(refs.size(), keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(refs[i].pair->key, keys[i]) << i;
}

template <class Key>
std::vector<Key> random_integers(std::size_t n) {
  std::mt19937_64 random(n);
  std::vector<Key> keys{std::numeric_limits<Key>::min(), std::numeric_limits<Key>::max(), 0};
  while (keys.size() < n) keys.push_back(static_cast<Key>(random() >> random() % 64));
  return keys;
}

TEST(RadixSort, IntegersOfAllKinds) {
  for (const std::size_t n : {3, 50, 97, 5000}) {
    expect_sorted(random_integers<std::int8_t>(n));
    expect_sorted(random_integers<std::uint16_t>(n));
    expect_sorted(random_integers<std::int32_t>(n));
    expect_sorted(random_integers<std::int64_t>(n));
    expect_sorted(random_integers<std::uint64_t>(n));
  }
}

TEST(RadixSort, StringsWithPrefixesNulsAndCommonBeginnings) {
  std::mt19937_64 random(7);
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < 20000; ++i) {
    std::string key(random() % 3 == 0 ? 8 * (random() % 90) : 0, 'p');
    const std::size_t more = random() % 12;
    for (std::size_t k = 0; k < more; ++k) key += "\0\xFFz"[random() % 3];
    keys.push_back(key);
  }
  expect_sorted(keys);
}

TEST(RadixSort, NothingAndOne) {
  expect_sorted(std::vector<int>{});
  expect_sorted(std::vector<std::string>{"only"});
}

/// Expects each key's pairs to be complete, with their values, in one run.
template <class Key>
void expect_gathered(const std::vector<Key>& keys) {
  std::vector<emitted<Key, std::uint32_t>> pairs, scratch(keys.size());
  std::vector<std::pair<Key, std::uint32_t>> expected, got;
  for (const Key& key : keys) {
    const auto number = static_cast<std::uint32_t>(pairs.size());
    pairs.push_back({key, number});
    expected.emplace_back(key, number);
  }
  detail::gather_spread(std::span(pairs), std::span(scratch), 0, false);
  std::set<Key> begun;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (i == 0 || pairs[i].key != pairs[i - 1].key) {
      ASSERT_TRUE(begun.insert(pairs[i].key).second) << "two runs of " << +pairs[i].key;
    }
    got.emplace_back(pairs[i].key, pairs[i].value);
  }
  std::ranges::sort(expected);
  std::ranges::sort(got);
  ASSERT_EQ(got, expected);
}

TEST(GatherPairs, IntegersOfAllKinds) {
  for (const std::size_t n : {3, 31, 32, 33, 97, 5000, 70000}) {
    expect_gathered(random_integers<std::int8_t>(n));
    expect_gathered(random_integers<std::uint16_t>(n));
    expect_gathered(random_integers<std::int32_t>(n));
    expect_gathered(random_integers<std::uint64_t>(n));
    expect_gathered(std::vector<std::int64_t>(n, -7));
  }
  expect_gathered(std::vector<int>{});
}

TEST(GatherPairs, KeysThatNoUpperBitTellsApart) {
  constexpr std::uint64_t inverse = 0xF1DE83E19937733Dull;
  static_assert(detail::spread_key(inverse) == 1);
  for (const std::uint64_t step : {1ull, 3ull, 1ull << 30}) {
    std::vector<std::uint64_t> keys;
    for (std::uint64_t i = 0; i < 3000; ++i) keys.push_back(i % 700 * step * inverse);
    expect_gathered(keys);
  }
}

TEST(MergeSort, AgreesWithAStableSort) {
  std::mt19937 random(5);
  for (std::size_t n = 0; n < 300; ++n) {
    std::vector<std::pair<std::uint32_t, std::size_t>> all;
    for (std::size_t i = 0; i < n; ++i) all.emplace_back(random() % (1 + n / 3), i);
    auto expected = all, scratch = all;
    const auto by_first = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::ranges::stable_sort(expected, by_first);
    detail::merge_sort(std::span(all), std::span(scratch), by_first);
    ASSERT_EQ(all, expected) << n;
  }
}

TEST(MergeSort, LosesNothingIfComparisonsContradict) {
  std::mt19937 random(6);
  std::vector<std::size_t> all(1000), scratch(1000);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  detail::merge_sort(std::span(all), std::span(scratch),
                     [&](std::size_t, std::size_t) { return random() % 2 == 0; });
  std::ranges::sort(all);
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i);
}

}  // namespace
}  // namespace creek::mapreduce

// SPDX-License-Identifier: Apache-2.0
// Rows by key against std::map, for keys in and out of order.
#include "tpch/operators/keyed_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <creek/core/error.hpp>
#include <creek/tasking/runtime.hpp>
#include <map>
#include <numeric>
#include <random>
#include <vector>

namespace creek::tpch {
namespace {

/// A column of keys in memory.
struct key_column {
  explicit key_column(const std::vector<std::int64_t>& keys) {
    packing seen;
    seen.see(keys);
    packed shape = seen.shape();
    shape.size = keys.size();
    memory = buffer(shape.bytes());
    pack(keys, shape, memory.data(), 0);
    shape.codes = memory.data();
    view.schema = &schema;
    view.values = shape;
  }
  column_schema schema{"c_custkey"};
  buffer memory;
  column view;
};

std::vector<std::size_t> all_rows(std::size_t n) {
  std::vector<std::size_t> rows(n);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

void check(const std::vector<std::int64_t>& keys, const std::vector<std::size_t>& rows,
           const keyed_rows& got) {
  std::map<std::int64_t, std::size_t> wanted;
  for (const std::size_t row : rows) wanted[keys[row]] = row;
  EXPECT_EQ(got.size(), wanted.size());
  for (std::int64_t key : keys) {
    for (const std::int64_t near : {key - 1, key, key + 1}) {
      const auto found = wanted.find(near);
      ASSERT_EQ(got.find(near), found == wanted.end() ? keyed_rows::absent : found->second) << near;
    }
  }
  std::size_t place = 0;
  for (const auto& [key, row] : wanted) {
    ASSERT_EQ(got.place(key), place);
    ASSERT_EQ(got.row(place), row);
    ++place;
  }
}

TEST(tpch_keyed_rows, all_rows_and_some_of_them) {
  std::mt19937_64 random(9);
  for (const std::size_t n : {0u, 1u, 2u, 250u, 256u, 300u, 70'000u}) {
    for (const std::int64_t step : {1, 3, 1'000'000'007}) {
      std::vector<std::int64_t> keys;
      for (std::size_t i = 0; i < n; ++i) keys.push_back(-7 + step * static_cast<std::int64_t>(i));
      for (const bool shuffled : {false, true}) {
        if (shuffled) std::ranges::shuffle(keys, random);
        const key_column column(keys);
        const keyed_rows whole(column.view);
        check(keys, all_rows(n), whole);
        if (step == 1 && !shuffled && n > 0) {
          EXPECT_EQ(whole.describe(), "consecutive keys");
        }
        std::vector<std::size_t> some;
        for (std::size_t row = 0; row < n; ++row) {
          if (random() % 3 == 0) some.push_back(row);
        }
        check(keys, some, keyed_rows(column.view, some));
      }
    }
  }
}

TEST(tpch_keyed_rows, codes_that_wrap_round_are_not_consecutive) {
  std::vector<std::int64_t> keys;
  for (std::int64_t i = 0; i < 256; ++i) keys.push_back((i + 250) % 256);
  const key_column column(keys);
  ASSERT_EQ(column.view.values.width, 1u);
  check(keys, all_rows(keys.size()), keyed_rows(column.view));
}

TEST(tpch_keyed_rows, a_key_of_two_rows_is_an_error) {
  const key_column column({1, 2, 5, 2, 7});
  try {
    const keyed_rows whole(column.view);
    FAIL();
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("c_custkey: two rows have the key 2"), std::string::npos);
  }
  EXPECT_THROW(keyed_rows(column.view, {3, 4, 1}), error);
  EXPECT_EQ(keyed_rows(column.view, {3, 4, 0}).size(), 3u);
}

TEST(tpch_keyed_rows, matches_of_many_and_of_few_rows) {
  std::mt19937_64 random(3);
  std::vector<std::int64_t> keys(3000);
  std::iota(keys.begin(), keys.end(), 100);
  std::ranges::shuffle(keys, random);
  const key_column partners(keys);
  std::vector<std::int64_t> foreign;
  for (int i = 0; i < 9000; ++i) foreign.push_back(static_cast<std::int64_t>(random() % 4000));
  const key_column lines(foreign);
  std::vector<std::size_t> some;
  for (std::size_t row = 0; row < keys.size(); row += 2) some.push_back(row);
  const keyed_rows right(partners.view, some);
  for (const std::size_t one_in : {1u, 3u, 50u}) {
    std::size_t matches = 0;
    for (std::size_t first = 0; first < foreign.size(); first += block_rows) {
      const row_block block{first, std::min(block_rows, foreign.size() - first)};
      row_mask mask(block);
      for (std::size_t i = 0; i < block.rows; ++i) {
        if (i % one_in != 0) mask.words[i / 64] &= ~(std::uint64_t{1} << i % 64);
      }
      std::size_t last = 0;
      for_each_match(lines.view.values, block, right, mask, [&](std::size_t row, std::size_t at) {
        EXPECT_EQ((row - first) % one_in, 0u);
        EXPECT_TRUE(matches == 0 || row > last);
        EXPECT_EQ(keys[right.row(at)], foreign[row]);
        last = row;
        ++matches;
      });
    }
    std::size_t wanted = 0;
    for (std::size_t row = 0; row < foreign.size(); ++row) {
      wanted += row % block_rows % one_in == 0 && right.find(foreign[row]) != keyed_rows::absent;
    }
    EXPECT_EQ(matches, wanted);
  }
}

}  // namespace
}  // namespace creek::tpch

// SPDX-License-Identifier: Apache-2.0
// Decimals, dates, packed numbers and their selection, against plain arithmetic.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tpch/operators/select.hpp"
#include "tpch/operators/sum_products.hpp"
#include "tpch/values/date.hpp"
#include "tpch/values/decimal.hpp"

namespace creek::tpch {
namespace {

TEST(tpch_decimal, text) {
  EXPECT_EQ(to_string(decimal{0, 2}), "0.00");
  EXPECT_EQ(to_string(decimal{-5, 2}), "-0.05");
  EXPECT_EQ(to_string(decimal{123456, 4}), "12.3456");
  EXPECT_EQ(to_string(decimal{42, 0}), "42");
  EXPECT_EQ(to_string(decimal{int128{1'000'000'000'000'000'000} * 1'000'000'000'000, 6}),
            "1000000000000000000000000.000000");
  EXPECT_EQ(parse_decimal("12.5", 2), 1250);
  EXPECT_EQ(parse_decimal("-0.05", 2), -5);
  EXPECT_EQ(parse_decimal("9223372036854775807", 0), std::numeric_limits<std::int64_t>::max());
  EXPECT_FALSE(parse_decimal("9223372036854775808", 0));
  for (const char* bad : {"", "-", ".", "1.", ".1", "1.234", "1e2", "1 ", "0x1"}) {
    EXPECT_FALSE(parse_decimal(bad, 2)) << bad;
  }
}

TEST(tpch_decimal, quotient_rounds_halves_away_from_zero) {
  EXPECT_EQ(to_string(quotient(1, 3, 6)), "0.333333");
  EXPECT_EQ(to_string(quotient(-2, 3, 6)), "-0.666667");
  EXPECT_EQ(to_string(quotient(2, -3, 6)), "-0.666667");
  EXPECT_EQ(to_string(quotient(-1, -8, 2)), "0.13");
  EXPECT_EQ(to_string(quotient(1, -8, 2)), "-0.13");
  EXPECT_EQ(to_string(quotient(124, 1000, 2)), "0.12");
  EXPECT_EQ(to_string(quotient(0, -3, 2)), "0.00");
  EXPECT_EQ(to_string(quotient(int128{1} << 123, int128{1} << 123, 9)), "1.000000000");
  EXPECT_EQ(to_string(quotient(-(int128{1} << 122), (int128{1} << 123) + 1, 1)), "-0.5");
}

TEST(tpch_decimal, average_rounds_halves_away_from_zero) {
  EXPECT_EQ(to_string(average({100, 2}, 3, 6)), "0.333333");
  EXPECT_EQ(to_string(average({200, 2}, 3, 6)), "0.666667");
  EXPECT_EQ(to_string(average({1, 2}, 2, 2)), "0.01");
  EXPECT_EQ(to_string(average({-1, 2}, 2, 2)), "-0.01");
  EXPECT_EQ(to_string(average({-200, 2}, 3, 6)), "-0.666667");
}

TEST(tpch_date, text_and_months) {
  EXPECT_EQ(parse_date("1970-01-01"), 0);
  EXPECT_EQ(parse_date("1992-02-29"), 8094);
  EXPECT_FALSE(parse_date("1900-02-29"));
  for (std::int32_t day = -700'000; day < 2'900'000; day += 997) {
    ASSERT_EQ(parse_date(date_to_string(day)), day);
  }
  EXPECT_EQ(date_to_string(add_months(*parse_date("1996-02-29"), 12)), "1997-02-28");
  EXPECT_EQ(date_to_string(add_months(*parse_date("1994-01-31"), 1)), "1994-02-28");
}

/// Numbers packed like the loader's, and their memory.
struct packed_numbers {
  explicit packed_numbers(const std::vector<std::int64_t>& values) {
    packing seen;
    seen.see(values);
    view = seen.shape();
    view.size = values.size();
    memory = buffer(view.bytes());
    view.codes = memory.data();
    pack(values, view, memory.data(), 0);
  }
  buffer memory;
  packed view;
};

std::vector<std::int64_t> random_numbers(std::mt19937_64& random, std::size_t count,
                                         std::uint64_t range, std::int64_t base,
                                         std::int64_t factor) {
  std::vector<std::int64_t> values(count);
  for (std::int64_t& value : values) {
    value = base + factor * static_cast<std::int64_t>(random() % range);
  }
  return values;
}

constexpr std::uint64_t ranges[] = {1, 11, 256, 257, 65536, 65537, 1ull << 32, 1ull << 40};

TEST(tpch_packed, every_width_keeps_every_value) {
  std::mt19937_64 random(1);
  for (const std::uint64_t range : ranges) {
    for (const std::int64_t factor : {1, 100}) {
      const auto values = random_numbers(random, 500, range, -1000, factor);
      const packed_numbers numbers(values);
      for (std::size_t i = 0; i < values.size(); ++i) {
        ASSERT_EQ(numbers.view.value(i), values[i]) << range << " " << factor;
      }
      // Does the same as a part of a column of a larger range.
      packing seen;
      seen.see(values);
      seen.join({.least = -1'000'000, .greatest = 5'000'000'000, .hundreds = false});
      packed wide = seen.shape();
      const buffer memory((values.size() + 3) * wide.width);
      wide.codes = memory.data();
      repack(numbers.view, wide, memory.data(), 3);
      for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(wide.value(i + 3), values[i]);
    }
  }
  const packed_numbers extremes(
      {std::numeric_limits<std::int64_t>::min(), 0, std::numeric_limits<std::int64_t>::max()});
  EXPECT_EQ(extremes.view.value(0), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(extremes.view.value(2), std::numeric_limits<std::int64_t>::max());
}

TEST(tpch_packed, a_code_is_bounded_though_its_bytes_may_change) {
  for (const std::uint64_t range : ranges) {
    packed_numbers numbers({0, static_cast<std::int64_t>(range)});
    std::memset(numbers.memory.data(), 0xff, numbers.memory.size());
    EXPECT_EQ(numbers.view.code(0), numbers.view.last_code);
    EXPECT_EQ(numbers.view.code(1), range);
  }
}

/// Expects that `keep` leaves exactly the rows of all blocks for which `wanted` holds.
template <class Keep, class Wanted>
void check_selection(std::size_t rows, const Keep& keep, const Wanted& wanted) {
  for (std::size_t first = 0; first < rows; first += block_rows) {
    const row_block block{first, std::min(block_rows, rows - first)};
    row_mask mask(block);
    keep(block, mask);
    std::vector<std::size_t> got, expected;
    for_each_row(block, mask, [&](std::size_t row) { got.push_back(row); });
    for (std::size_t row = first; row < first + block.rows; ++row) {
      if (wanted(row)) expected.push_back(row);
    }
    ASSERT_EQ(got, expected);
    ASSERT_EQ(mask.count(block), expected.size());
    std::vector<std::size_t> listed;
    for (const std::size_t row : row_list(block, mask)) listed.push_back(first + row);
    ASSERT_EQ(listed, expected);
  }
}

TEST(tpch_select, between_for_every_width_and_length) {
  std::mt19937_64 random(2);
  for (const std::uint64_t range : ranges) {
    for (const std::int64_t factor : {1, 100}) {
      for (const std::size_t rows : {1u, 63u, 64u, 65u, 4095u, 4096u, 9000u}) {
        const auto values = random_numbers(random, rows, range, -50, factor);
        const packed_numbers numbers(values);
        for (int i = 0; i < 4; ++i) {
          std::int64_t low = values[random() % rows] - static_cast<std::int64_t>(random() % 3);
          std::int64_t high = values[random() % rows] + static_cast<std::int64_t>(random() % 3);
          const code_range codes = codes_between(numbers.view, low, high);
          check_selection(
              rows,
              [&](const row_block& block, row_mask& mask) {
                keep_between(numbers.view, block, codes, mask);
              },
              [&](std::size_t row) { return values[row] >= low && values[row] <= high; });
        }
      }
    }
  }
}

TEST(tpch_select, either_and_less) {
  std::mt19937_64 random(3);
  constexpr std::size_t rows = 5000;
  for (const std::uint64_t range : {7ull, 3000ull, 65536ull, 1ull << 33}) {
    const auto a = random_numbers(random, rows, range, 8000, 1);
    for (const std::int64_t base : {8000, 8001, 7000, -100'000}) {
      const auto b = random_numbers(random, rows, range, base, 1);
      const packed_numbers left(a), right(b);
      check_selection(
          rows,
          [&](const row_block& block, row_mask& mask) {
            keep_less(left.view, right.view, block, mask);
          },
          [&](std::size_t row) { return a[row] < b[row]; });
    }
    const packed_numbers numbers(a);
    const std::uint64_t one = numbers.view.code(0), other = numbers.view.code(1);
    check_selection(
        rows,
        [&](const row_block& block, row_mask& mask) {
          keep_either(numbers.view, block, one, other, mask);
        },
        [&](std::size_t row) { return a[row] == a[0] || a[row] == a[1]; });
  }
}

TEST(tpch_select, sums_of_products) {
  std::mt19937_64 random(6);
  for (const std::size_t rows : {1u, 64u, 100u, 4000u, 4096u}) {
    std::vector<std::int64_t> a = random_numbers(random, rows, 1ull << 32, 0, 1);
    std::vector<std::int64_t> b = random_numbers(random, rows, 256, 0, 1);
    a[0] = 0xffff'ffff;  // the greatest codes
    b[0] = 255;
    const buffer as(4 * rows), bs(rows);
    std::copy(a.begin(), a.end(), reinterpret_cast<std::uint32_t*>(as.data()));
    std::copy(b.begin(), b.end(), reinterpret_cast<std::uint8_t*>(bs.data()));
    for (const std::uint64_t some : {1u, 2u, 50u, 100'000u}) {
      const row_block block{0, rows};
      row_mask mask(block);
      for (std::size_t w = 0; w < block.words(); ++w) {
        std::uint64_t keep = 0;
        for (int bit = 0; bit < 64; ++bit) keep = keep << 1 | std::uint64_t{random() % some == 0};
        mask.words[w] &= keep;
      }
      product_sums wanted;
      for_each_row(block, mask, [&](std::size_t row) {
        const auto other = static_cast<std::uint64_t>(4785 + 200 * b[row]);
        wanted.products += static_cast<std::uint64_t>(a[row]) * other;
        wanted.others += other;
        ++wanted.rows;
      });
      const product_sums got = sum_products(reinterpret_cast<const std::uint32_t*>(as.data()),
                                            reinterpret_cast<const std::uint8_t*>(bs.data()), 4785,
                                            200, mask.words, block.words());
      EXPECT_EQ(got.products, wanted.products);
      EXPECT_EQ(got.others, wanted.others);
      EXPECT_EQ(got.rows, wanted.rows);
    }
  }
}

TEST(tpch_select, ends_of_runs) {
  std::mt19937_64 random(6);
  for (const std::uint64_t step : {1ull, 1ull << 12, 1ull << 30}) {
    for (const std::size_t rows : {1u, 64u, 100u, 4096u, 4097u, 9000u}) {
      std::vector<std::int64_t> values{-5};
      while (values.size() < rows) {
        const bool same = random() % 4 != 0;
        values.push_back(values.back() + (same ? 0 : static_cast<std::int64_t>(random() % step)));
      }
      const packed_numbers numbers(values);
      check_selection(
          rows,
          [&](const row_block& block, row_mask& mask) {
            EXPECT_TRUE(keep_run_ends(numbers.view, block, mask));
          },
          [&](std::size_t row) { return row + 1 == rows || values[row + 1] != values[row]; });
      if (rows < 2 || values.front() == values.back()) continue;
      std::swap(values.front(), values.back());
      const packed_numbers fallen(values);
      bool in_order = true;
      for (std::size_t first = 0; first < rows; first += block_rows) {
        const row_block block{first, std::min(block_rows, rows - first)};
        row_mask mask(block);
        in_order = keep_run_ends(fallen.view, block, mask) && in_order;
      }
      EXPECT_FALSE(in_order);
    }
  }
}

/// Rows whose value is one of the keys, with the column in any order and in that of its values.
void check_members(std::vector<std::int64_t> values, const std::vector<std::int64_t>& keys) {
  const key_index index(keys);
  for (const bool sorted : {false, true}) {
    if (sorted) std::ranges::sort(values);
    const packed_numbers numbers(values);
    check_selection(
        values.size(),
        [&](const row_block& block, row_mask& mask) {
          keep_members(numbers.view, block, index, mask);
        },
        [&](std::size_t row) { return std::ranges::binary_search(keys, values[row]); });
  }
}

TEST(tpch_select, members_of_close_and_of_scattered_keys) {
  std::mt19937_64 random(4);
  constexpr std::size_t rows = 5000;
  for (const std::uint64_t range : {200ull, 1ull << 12, 1ull << 20, 1ull << 24, 1ull << 34}) {
    for (const std::int64_t base : {0ll, -3'000'000'000ll, 1ll << 62}) {
      const auto values = random_numbers(random, rows, range, base, 1);
      // Keys that begin before, within and far from the column's values.
      for (const std::int64_t from : {-1000ll, 50ll, 1ll << 31, -(1ll << 31), 1ll << 40}) {
        std::vector<std::int64_t> keys = random_numbers(random, 300, range, base + from, 1);
        for (std::size_t i = 0; from == 50 && i < rows; i += 7) keys.push_back(values[i]);
        std::ranges::sort(keys);
        keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
        check_members(values, keys);
      }
    }
  }
}

}  // namespace
}  // namespace creek::tpch

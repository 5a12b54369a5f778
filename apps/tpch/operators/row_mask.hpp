// SPDX-License-Identifier: Apache-2.0
// Blocks of rows that fit the first cache, with one bit per row that says whether it is still of
// interest.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <creek/tasking/parallel_reduce.hpp>

#include "bits.hpp"

namespace creek::tpch {

inline constexpr std::size_t block_rows = 4096;

/// Rows [first, first + rows) of a table; `first` is a multiple of 64.
struct row_block {
  std::size_t first = 0;
  std::size_t rows = 0;

  [[nodiscard]] std::size_t words() const noexcept { return (rows + 63) / 64; }
};

struct row_mask {
  alignas(64) std::uint64_t words[block_rows / 64];

  /// Sets the bit of every row of the block, and none beyond.
  explicit row_mask(const row_block& block) noexcept {
    const std::size_t count = block.words();
    std::fill(words, words + count, ~std::uint64_t{0});
    if (block.rows % 64 != 0) words[count - 1] = (std::uint64_t{1} << block.rows % 64) - 1;
  }
  [[nodiscard]] std::size_t count(const row_block& block) const noexcept {
    return count_ones({words, block.words()});
  }
};

/// Calls f(row) for each row of the table that is left, in order. Use it for selections that leave
/// most rows; if few are left, a row_list is faster.
template <class F>
void for_each_row(const row_block& block, const row_mask& mask, F&& f) {
  for (std::size_t w = 0; w < block.words(); ++w) {
    if (mask.words[w] == ~std::uint64_t{0}) {
      for (std::size_t bit = 0; bit < 64; ++bit) f(block.first + 64 * w + bit);
      continue;
    }
    for (std::uint64_t rest = mask.words[w]; rest != 0; rest &= rest - 1) {
      f(block.first + 64 * w + static_cast<std::size_t>(std::countr_zero(rest)));
    }
  }
}

/// Keeps the rows of the table for which test(row) holds; tests only rows that are left.
template <class Test>
void keep_if(const row_block& block, row_mask& mask, Test&& test) noexcept {
  for (std::size_t w = 0; w < block.words(); ++w) {
    for (std::uint64_t rest = mask.words[w]; rest != 0; rest &= rest - 1) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(rest));
      if (!test(block.first + 64 * w + bit)) mask.words[w] &= ~(std::uint64_t{1} << bit);
    }
  }
}

/// The rows of a block that are left, as offsets from its first row, in order.
class row_list {
 public:
  row_list(const row_block& block, const row_mask& mask) noexcept
      : size_(list_ones({mask.words, block.words()}, rows_)) {}

  [[nodiscard]] const std::uint16_t* begin() const noexcept { return rows_; }
  [[nodiscard]] const std::uint16_t* end() const noexcept { return rows_ + size_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  std::size_t size_;
  std::uint16_t rows_[block_rows + 64];  // room for a word's rows beyond the last
};

/// Folds the blocks of a table of `rows` rows into a T, in parallel: fold(block, value) adds a
/// block to a value, combine(left, right) joins two whose rows follow one another.
template <class T, class Fold, class Combine>
T over_blocks(std::size_t rows, const T& identity, Fold&& fold, Combine&& combine) {
  const auto fold_range = [&](std::size_t block, std::size_t last, T value) {
    for (; block < last; ++block) {
      const std::size_t first = block * block_rows;
      fold(row_block{first, std::min(block_rows, rows - first)}, value);
    }
    return value;
  };
  return parallel_reduce_range(std::size_t{0}, (rows + block_rows - 1) / block_rows, identity,
                               fold_range, combine);
}

}  // namespace creek::tpch

// SPDX-License-Identifier: Apache-2.0
// Selection: comparisons on packed codes, a vector at a time, with the instructions that the CPU
// has at run time. Each function removes the rows from a mask that do not satisfy its condition.
#pragma once

#include <cstdint>

#include "key_index.hpp"
#include "row_mask.hpp"
#include "tpch/columns/packed.hpp"

namespace creek::tpch {

/// The codes low ... high; none if low > high.
struct code_range {
  std::uint64_t low = 1;
  std::uint64_t high = 0;
};

/// Returns the codes of the values low ... high, both included.
[[nodiscard]] code_range codes_between(const packed& column, std::int64_t low,
                                       std::int64_t high) noexcept;

/// Keeps rows whose code is in the range.
void keep_between(const packed& column, const row_block& block, code_range range,
                  row_mask& mask) noexcept;

/// Keeps rows whose code is one of two.
void keep_either(const packed& column, const row_block& block, std::uint64_t one,
                 std::uint64_t other, row_mask& mask) noexcept;

/// Keeps rows whose value in `left` is less than that in `right`.
void keep_less(const packed& left, const packed& right, const row_block& block,
               row_mask& mask) noexcept;

/// Keeps the last row of each run of one value: the next row of the table has another value or is
/// missing. Returns false, with the mask void, if a value in the block or in the row after it is
/// less than the one before: the table is not in the order of the column.
[[nodiscard]] bool keep_run_ends(const packed& column, const row_block& block,
                                 row_mask& mask) noexcept;

/// Keeps rows whose value is one of the keys.
void keep_members(const packed& column, const row_block& block, const key_index& keys,
                  row_mask& mask) noexcept;

}  // namespace creek::tpch

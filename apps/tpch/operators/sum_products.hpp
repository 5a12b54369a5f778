// SPDX-License-Identifier: Apache-2.0
// The sum of the products of two columns over the rows that a mask leaves.
#pragma once

#include <cstddef>
#include <cstdint>

namespace creek::tpch {

struct product_sums {
  std::uint64_t products = 0;  ///< sum of a * (base + factor * b)
  std::uint64_t others = 0;    ///< sum of base + factor * b
  std::uint64_t rows = 0;
  std::uint64_t words = 0;  ///< words of the mask that had a row
};

/// Sums over `words` words of 64 rows, at most block_rows rows; base + 255 * factor must be below
/// 2^16. Reads both columns in full wherever a word has a bit, which even for words of few bits is
/// faster than to fetch single rows. A mask has zeros beyond the last row; the columns have their
/// slack.
[[nodiscard]] product_sums sum_products(const std::uint32_t* a, const std::uint8_t* b,
                                        std::uint32_t base, std::uint32_t factor,
                                        const std::uint64_t* mask, std::size_t words) noexcept;

}  // namespace creek::tpch

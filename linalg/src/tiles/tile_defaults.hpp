// SPDX-License-Identifier: Apache-2.0
// Defaults of tile factorizations for options that are 0 (inner block, tile size), and the
// priorities of their steps.
#pragma once

#include <algorithm>

#include <creek/linalg/tile_matrix.hpp>

namespace creek::linalg::detail {

/// Multiple of the rows of all tile kernels, so that packed strips are full.
inline constexpr index_t default_inner = 48;

/// Returns the chosen tile size, or one by the size of the matrix. Larger than that of products:
/// two tiles at a time are eliminated by groups of columns, at a cost that falls with their
/// size.
inline index_t block_or_default(index_t block, index_t rows, index_t cols) noexcept {
  const index_t n = std::min(rows, cols);
  return block != 0 ? block : n <= 600 ? 144 : n <= 1500 ? 192 : 336;
}

/// Earlier steps go first; panels and the columns of the next panel go before everything.
inline int step_priority(index_t steps_left, bool ahead) noexcept {
  return static_cast<int>(std::min<index_t>(steps_left, 1 << 24)) + (ahead ? 1 << 25 : 0);
}

}  // namespace creek::linalg::detail

// SPDX-License-Identifier: Apache-2.0
// n queens without cutoff, all solutions counted: one task per safe placement, with a copy of the
// board, as in BOTS [Duran 2009] and Cilk's examples [Frigo 1998]. n: side of the board, up to 16.
#pragma once
#include <array>
#include <cstdlib>

#include "harness/workload.hpp"

namespace bench::nqueens {

inline constexpr description what{.name = "nqueens",
                                  .about = "n queens, one task per safe placement, no cutoff",
                                  .unit = "ns/task",
                                  .full = 12,
                                  .quick = 9,
                                  .smoke = 6};

/// Column of each queen placed so far, by row.
using board = std::array<std::int8_t, 16>;

/// Returns whether a queen at (row, column) is safe from those in the rows above.
inline bool safe(const board& b, int row, int column) {
  for (int i = 0; i < row; ++i) {
    const int other = b[static_cast<std::size_t>(i)];
    if (other == column || std::abs(other - column) == row - i) return false;
  }
  return true;
}

inline board with(board b, int row, int column) {
  b[static_cast<std::size_t>(row)] = static_cast<std::int8_t>(column);
  return b;
}

/// Returns the safe placements below (row, columns, diagonals taken): the number of tasks. Uses bit
/// masks, because this only counts and must not take as long as the run that it counts.
inline std::uint64_t placements(int n, std::uint32_t columns, std::uint32_t left,
                                std::uint32_t right) {
  std::uint64_t count = 0;
  for (std::uint32_t free = ~(columns | left | right) & ((1U << n) - 1); free != 0;
       free &= free - 1) {
    const std::uint32_t queen = free & -free;
    count += 1 + placements(n, columns | queen, (left | queen) << 1, (right | queen) >> 1);
  }
  return count;
}

inline double tasks(const settings& s) {
  return static_cast<double>(placements(static_cast<int>(s.n), 0, 0, 0));
}

}  // namespace bench::nqueens

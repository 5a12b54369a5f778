// SPDX-License-Identifier: Apache-2.0
// Serial n queens: the same placements, called instead of spawned.
#include "config.hpp"

namespace bench::nqueens {
namespace {

std::uint64_t solve(const board& b, int row, int n) {
  if (row == n) return 1;
  std::uint64_t total = 0;
  for (int column = 0; column < n; ++column) {
    if (safe(b, row, column)) total += solve(with(b, row, column), row + 1, n);
  }
  return total;
}

sample measure(const settings& s) {
  sample result{.work = tasks(s)};
  result.total_ns = timed([&] { result.answer = solve(board{}, 0, static_cast<int>(s.n)); });
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::nqueens

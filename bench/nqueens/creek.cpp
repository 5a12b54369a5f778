// SPDX-License-Identifier: Apache-2.0
// n queens on creek: each safe placement forks from the search for the next one in its row.
#include <creek/tasking.hpp>

#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::nqueens {
namespace {

std::uint64_t solve(const board& b, int row, int n);

int next_safe(const board& b, int row, int column, int n) {
  while (column < n && !safe(b, row, column)) ++column;
  return column;
}

/// Returns the solutions with the queen of `row` in `column`, which is safe, or further right.
std::uint64_t from(const board& b, int row, int column, int n) {
  const int next = next_safe(b, row, column + 1, n);
  if (next == n) return solve(with(b, row, column), row + 1, n);
  const auto [here, right] =
      creek::fork_join([&] { return solve(with(b, row, column), row + 1, n); },
                       [&] { return from(b, row, next, n); });
  return here + right;
}

std::uint64_t solve(const board& b, int row, int n) {
  if (row == n) return 1;
  const int first = next_safe(b, row, 0, n);
  return first == n ? 0 : from(b, row, first, n);
}

sample measure(const settings& s) {
  sample result{.work = tasks(s)};
  inside(s, [&] {
    result.total_ns = timed([&] { result.answer = solve(board{}, 0, static_cast<int>(s.n)); });
  });
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::nqueens

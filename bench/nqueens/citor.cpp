// SPDX-License-Identifier: Apache-2.0
// n queens on citor: forkJoinAll over the safe placements of a row.
#include "config.hpp"
#include "harness/citor_runtime.hpp"

namespace bench::nqueens {
namespace {

std::uint64_t solve(citor::ThreadPool& pool, const board& b, int row, int n) {
  if (row == n) return 1;
  std::array<int, 16> columns;
  std::size_t count = 0;
  for (int column = 0; column < n; ++column) {
    if (safe(b, row, column)) columns[count++] = column;
  }
  if (count == 0) return 0;
  std::array<std::uint64_t, 16> found;
  pool.forkJoinAll<citor_hints>(
      count, [&](std::size_t i) { found[i] = solve(pool, with(b, row, columns[i]), row + 1, n); });
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < count; ++i) total += found[i];
  return total;
}

sample measure(const settings& s) {
  sample result{.work = tasks(s)};
  inside(s, [&] {
    result.total_ns =
        timed([&] { result.answer = solve(*citor_pool, board{}, 0, static_cast<int>(s.n)); });
  });
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::nqueens

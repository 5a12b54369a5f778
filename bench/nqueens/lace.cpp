// SPDX-License-Identifier: Apache-2.0
// n queens on Lace: one task per safe placement.
#include "config.hpp"
#include "harness/lace_runtime.hpp"

namespace bench::nqueens {
namespace {

TASK_3(std::uint64_t, lace_solve, board, b, int, row, int, n) {
  if (row == n) return 1;
  int spawned = 0;
  for (int column = 0; column < n; ++column) {
    if (!safe(b, row, column)) continue;
    SPAWN(lace_solve, with(b, row, column), row + 1, n);
    ++spawned;
  }
  std::uint64_t total = 0;
  for (; spawned > 0; --spawned) total += SYNC(lace_solve);
  return total;
}

sample measure(const settings& s) {
  start_lace(s);
  sample result{.work = tasks(s)};
  result.total_ns =
      timed([&] { result.answer = RUN(lace_solve, board{}, 0, static_cast<int>(s.n)); });
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::nqueens

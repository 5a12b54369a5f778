// SPDX-License-Identifier: Apache-2.0
// n queens on oneTBB: one task_group per node, one task per safe placement.
#include <oneapi/tbb/task_group.h>

#include "config.hpp"
#include "harness/tbb_runtime.hpp"

namespace bench::nqueens {
namespace {

std::uint64_t solve(const board& b, int row, int n) {
  if (row == n) return 1;
  std::array<std::uint64_t, 16> found{};
  tbb::task_group group;
  for (int column = 0; column < n; ++column) {
    if (!safe(b, row, column)) continue;
    auto& slot = found[static_cast<std::size_t>(column)];
    group.run([next = with(b, row, column), row, n, &slot] { slot = solve(next, row + 1, n); });
  }
  group.wait();
  std::uint64_t total = 0;
  for (int column = 0; column < n; ++column) total += found[static_cast<std::size_t>(column)];
  return total;
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

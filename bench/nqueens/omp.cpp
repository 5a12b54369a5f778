// SPDX-License-Identifier: Apache-2.0
// n queens on OpenMP tasks.
#include "config.hpp"
#include "harness/omp_runtime.hpp"

namespace bench::nqueens {
namespace {

std::uint64_t solve(const board& b, int row, int n) {
  if (row == n) return 1;
  std::array<std::uint64_t, 16> found{};
  for (int column = 0; column < n; ++column) {
    if (!safe(b, row, column)) continue;
    const board next = with(b, row, column);
    std::uint64_t* slot = &found[static_cast<std::size_t>(column)];
#pragma omp task firstprivate(next, row, n, slot)
    *slot = solve(next, row + 1, n);
  }
#pragma omp taskwait
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

// SPDX-License-Identifier: Apache-2.0
// nqueens [THREADS]: all solutions of 14 queens, one task per safe placement, no cutoff.
#include <array>
#include <creek/tasking.hpp>
#include <cstdlib>
#include <numeric>

#include "benchmark.hpp"

namespace {

constexpr int side = 14;
constexpr int solutions = 365'596;

/// Column of each queen placed so far, by row.
using board = std::array<signed char, side>;

bool safe(const board& b, int row, int column) {
  for (int above = 0; above < row; ++above) {
    const int other = b[static_cast<std::size_t>(above)];
    if (other == column || std::abs(other - column) == row - above) return false;
  }
  return true;
}

int solve(const board& b, int row) {
  if (row == side) return 1;
  std::array<signed char, side> columns;  // the first `count` are safe
  std::size_t count = 0;
  for (int column = 0; column < side; ++column) {
    if (safe(b, row, column)) columns[count++] = static_cast<signed char>(column);
  }
  std::array<int, side> found;
  creek::fork_all(count, [&](std::size_t i) {
    board next = b;
    next[static_cast<std::size_t>(row)] = columns[i];
    found[i] = solve(next, row + 1);
  });
  return std::accumulate(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), 0);
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned threads = benchmark::threads(argc, argv, 1);
  std::printf("threads: %u\n", threads);
  creek::runtime runtime({.workers = threads});
  runtime.run([] {
    benchmark::check(solve(board{}, 0), solutions);  // warm-up
    int result = 0;
    benchmark::run("iteration_count", 1, [&] { result = solve(board{}, 0); });
    std::printf("output: %d\n", result);
    benchmark::check(result, solutions);
  });
}

// SPDX-License-Identifier: Apache-2.0
// A dense system whose matrix is dealt to a row of processes, block by block. Started as
// `mpirun -n 4 solve_on_ranks [N]`, or alone. The solution is all ones, so its error is known.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/linalg/grids.hpp>
#include <creek/mpi.hpp>

namespace la = creek::linalg;

// Some matrix that every rank can compute its part of.
static double element(la::index_t i, la::index_t j) {
  return i == j ? 10 : std::cos(static_cast<double>(i * 7 + j * 13));
}

int main(int count, char** arguments) {
  const la::index_t n = count > 1 ? std::atoi(arguments[1]) : 500, block = 64;
  return creek::ranks(count, arguments, [&](creek::mpi_communicator& all) {
    const auto grid = la::process_grid::of(1, all.size(), all.rank());
    // This rank has all rows of its columns. The right-hand side is at the first rank.
    const la::cyclic_axis columns{n, block, 0, grid.cols, grid.col};
    std::vector<double> a(static_cast<std::size_t>(n * columns.local_size()));
    std::vector<double> b(static_cast<std::size_t>(n));
    const la::grid_view<double> A(grid, n, n, block, block, a.data(), n);
    const la::grid_view<double> B(grid, n, 1, block, 1, b.data(), n);
    for (la::index_t j = 0; j < columns.local_size(); ++j) {
      for (la::index_t i = 0; i < n; ++i) A.local()(i, j) = element(i, columns.global(j));
    }
    for (la::index_t i = 0; i < n; ++i) {
      for (la::index_t j = 0; j < n; ++j) b[static_cast<std::size_t>(i)] += element(i, j);
    }
    std::vector<la::index_t> pivots(static_cast<std::size_t>(n));
    if (getrf_on_grid(all, A, std::span(pivots)) != 0) throw creek::error(EDOM, "A is singular");
    getrs_on_grid(all, la::op::none, A, std::span<const la::index_t>(pivots), B);
    if (all.rank() != 0) return 0;
    double error = 0;
    for (const double x : b) error = std::max(error, std::abs(x - 1));
    std::printf("n = %d on %d ranks: error %.1e\n", static_cast<int>(n), all.size(), error);
    return error < 1e-9 ? 0 : 1;
  });
}

// SPDX-License-Identifier: Apache-2.0
// LU, Cholesky, QR, solves and products on a grid of ranks, as a ScaLAPACK program calls them: the
// drop-in's functions and ScaLAPACK's, in turns on the same matrices in one run. To be started by
// the launcher of the MPI; for one thread per rank with OPENBLAS_NUM_THREADS=1 CREEK_WORKERS=1.
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "../../support/median.hpp"
#include "grids/contests.hpp"
#include "grids/library.hpp"

namespace {

using bench::contest;
using bench::contests;
using bench::library;
using bench::values;
using creek::linalg::process_grid;

template <class F>
double timed(F f) {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto begin = std::chrono::steady_clock::now();
  f();
  MPI_Barrier(MPI_COMM_WORLD);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Returns whether all residuals pass.
bool compare(const contest& c, const library& creeks, const library& scalapack, int rank,
             int rounds) {
  values ours, theirs, ratios;
  double worst[2] = {};
  for (int i = 0; i < rounds; ++i) {
    for (int turn = 0; turn < 2; ++turn) {
      const bool mine = turn == i % 2;
      c.prepare();
      (mine ? ours : theirs).push_back(timed([&] { c.run(mine ? creeks : scalapack); }));
      const double found = c.check();
      if (!(found <= worst[mine ? 0 : 1])) worst[mine ? 0 : 1] = found;
    }
    ratios.push_back(theirs.back() / ours.back());
  }
  if (rank == 0) {
    const double of_fastest = *std::min_element(theirs.begin(), theirs.end()) /
                              *std::min_element(ours.begin(), ours.end());
    std::printf("%-12s %10.1f %10.1f %10.2f %10.2f %10.1e %10.1e\n", c.name,
                c.operations / bench::median(ours) / 1e9,
                c.operations / bench::median(theirs) / 1e9, bench::median(ratios), of_fastest,
                worst[0], worst[1]);
    std::fflush(stdout);
  }
  return worst[0] < 1 && worst[1] < 1;
}

/// The library in which ScaLAPACK finds its BLAS.
std::string blas() {
  Dl_info found{};
  void* const dgemm = dlsym(RTLD_DEFAULT, "dgemm_");
  if (dgemm == nullptr || dladdr(dgemm, &found) == 0) return "an unknown BLAS";
  char path[4096];
  return realpath(found.dli_fname, path) == nullptr ? found.dli_fname : path;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const auto argument = [&](int i, int usual) { return argc > i ? std::atoi(argv[i]) : usual; };
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int n = argument(1, 4000), block = argument(2, 64), rows = argument(3, 1);
  const int rounds = argument(4, 5);
  bool good = true;
  if (n < 1 || block < 1 || rows < 1 || size % rows != 0 || rounds < 1) {
    std::fprintf(stderr,
                 "usage: mpirun -n P %s [N [BLOCK [GRID_ROWS [ROUNDS]]]], GRID_ROWS a divisor of "
                 "P\n",
                 argv[0]);
    good = false;
  } else {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const process_grid grid = process_grid::of(rows, size / rows, rank);
    int context = 0;
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "Row", grid.rows, grid.cols);
    if (rank == 0) {
      std::printf("n = %d, blocks of %d, grid of %d x %d; ScaLAPACK over %s\n", n, block, grid.rows,
                  grid.cols, blas().c_str());
      std::printf(
          "GFLOP/s and ratio: medians of %d rounds; fastest: ratio of the shortest times;\n"
          "then the largest residuals\n",
          rounds);
      std::printf("%-12s %10s %10s %10s %10s %10s %10s\n", "", "creek", "ScaLAPACK", "ratio",
                  "fastest", "creek", "ScaLAPACK");
    }
    const library creeks(CREEK_DROP_IN), scalapack(SCALAPACK);
    contests all(scalapack, grid, context, n, block);
    for (const contest& each : all.all()) {
      good = compare(each, creeks, scalapack, rank, rounds) && good;
    }
    if (!good && rank == 0) std::fprintf(stderr, "a residual is too large\n");
  }
  MPI_Finalize();
  return good ? 0 : 1;
}

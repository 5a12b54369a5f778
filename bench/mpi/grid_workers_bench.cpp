// SPDX-License-Identifier: Apache-2.0
// LU, Cholesky, QR and products on a row of ranks that have workers, beside the routines of one
// memory at rank 0, on as many workers as the ranks have together. In turns in one run; while one
// memory computes, the other ranks sleep.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <span>
#include <vector>

#include <creek/host.hpp>
#include <creek/linalg.hpp>
#include <creek/linalg/grids.hpp>
#include <creek/mpi.hpp>

#include "../../support/median.hpp"
#include "timed.hpp"

namespace {

using namespace creek::linalg;

/// A reproducible element, whose matrix is positive definite.
double element(index_t i, index_t j) {
  const double x =
      std::sin(static_cast<double>(std::min(i, j) * 12.9898 + std::max(i, j) * 78.233));
  return i == j ? 1'000 : x * 43758.5453 - std::floor(x * 43758.5453) - 0.5;
}

/// A matrix in blocks of columns on a row of ranks, and the whole one at rank 0.
class matrices {
 public:
  matrices(creek::mpi_communicator& all, index_t n, index_t block)
      : n_(n),
        whole_(all.rank() == 0 ? n : 0, all.rank() == 0 ? n : 0),
        part_(static_cast<std::size_t>(n * (n / all.size() + 2 * block))),
        view_(process_grid::of(1, all.size(), all.rank()), n, n, block, block, part_.data(), n) {}

  void fill() {
    for (index_t j = 0; j < view_.cols().local_size(); ++j) {
      for (index_t i = 0; i < n_; ++i) view_.local()(i, j) = element(i, view_.cols().global(j));
    }
    for (index_t j = 0; j < whole_.cols(); ++j) {
      for (index_t i = 0; i < n_; ++i) whole_(i, j) = element(i, j);
    }
  }
  /// Returns the largest difference at rank 0, in roundings of n terms of the largest element.
  double difference() const {
    double largest = 0, scale = 0;
    for (index_t j = 0; whole_.cols() != 0 && j < view_.cols().local_size(); ++j) {
      for (index_t i = 0; i < n_; ++i) {
        const double expected = whole_(i, view_.cols().global(j));
        const double d = std::abs(view_.local()(i, j) - expected);
        if (!(d <= largest)) largest = d;
        scale = std::max(scale, std::abs(expected));
      }
    }
    return scale == 0 ? 0 : largest / scale / 2.2e-16 / static_cast<double>(n_);
  }
  matrix_view<double> whole() { return whole_.view(); }
  const grid_view<double>& view() const { return view_; }

 private:
  index_t n_;
  matrix<double> whole_;
  std::vector<double> part_;
  grid_view<double> view_;
};

struct contest {
  const char* name;
  double operations;
  matrices* result;
  std::function<void()> on_grid, in_memory;
};

bool compare(creek::mpi_communicator& all, const contest& c, std::span<matrices> inputs,
             int rounds) {
  std::vector<double> grid, memory, ratios;
  double worst = 0;
  for (int i = 0; i < rounds; ++i) {
    for (matrices& each : inputs) each.fill();
    for (int turn = 0; turn < 2; ++turn) {
      const bool on_grid = turn == i % 2;
      (on_grid ? grid : memory).push_back(bench::timed(all, on_grid ? c.on_grid : c.in_memory));
    }
    ratios.push_back(memory.back() / grid.back());
    const double difference = c.result->difference();
    if (!(difference <= worst)) worst = difference;
  }
  if (all.rank() == 0) {
    std::printf("%-10s %10.1f %12.1f %8.2f %8.2f %10.1e\n", c.name,
                c.operations / bench::median(grid) / 1e9,
                c.operations / bench::median(memory) / 1e9, bench::median(ratios),
                *std::min_element(memory.begin(), memory.end()) /
                    *std::min_element(grid.begin(), grid.end()),
                worst);
    std::fflush(stdout);
  }
  return worst < 10;
}

int run(creek::mpi_communicator& all, index_t n, index_t block, unsigned workers, int rounds) {
  const bool is_first = all.rank() == 0;
  creek::runtime rt{creek::host{workers}};
  const grid_options options{workers == 1 ? nullptr : &rt};
  creek::runtime together{creek::host{is_first ? workers * static_cast<unsigned>(all.size()) : 1}};
  std::vector<matrices> m;
  for (int i = 0; i < 3; ++i) m.emplace_back(all, n, block);
  matrices &a = m[0], &b = m[1], &c = m[2];
  std::vector<index_t> pivots(static_cast<std::size_t>(n));
  std::vector<double> tau(pivots.size());
  const auto in_memory = [&](auto f) {
    return [&, f] {
      if (is_first) together.run(f);
    };
  };
  const double cube = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  const contest contests[] = {
      {"LU", 2.0 / 3 * cube, &a,
       [&] { (void)getrf_on_grid(all, a.view(), std::span<index_t>(pivots), options); },
       in_memory([&] { (void)getrf(a.whole(), std::span<index_t>(pivots)); })},
      {"Cholesky", 1.0 / 3 * cube, &a,
       [&] { (void)potrf_on_grid(all, triangle::lower, a.view(), options); },
       in_memory([&] { (void)potrf(triangle::lower, a.whole()); })},
      {"QR", 4.0 / 3 * cube, &a,
       [&] { geqrf_on_grid(all, a.view(), std::span<double>(tau), options); },
       in_memory([&] { geqrf(a.whole(), std::span<double>(tau)); })},
      {"product", 2 * cube, &c,
       [&] { gemm_on_grid(all, op::none, op::none, 1, a.view(), b.view(), 1, c.view(), options); },
       in_memory([&] { gemm(op::none, op::none, 1, a.whole(), b.whole(), 1, c.whole()); })},
  };
  if (is_first) {
    std::printf("n = %d, blocks of %d, %d ranks of %u workers; one memory: %u workers\n",
                static_cast<int>(n), static_cast<int>(block), all.size(), workers,
                together.worker_count());
    std::printf(
        "GFLOP/s and ratio: medians of %d rounds; fastest: ratio of the shortest times;\n"
        "then the largest difference\n%-10s %10s %12s %8s %8s %10s\n",
        rounds, "", "grid", "one memory", "ratio", "fastest", "difference");
  }
  bool good = true;
  for (const contest& each : contests) good = compare(all, each, m, rounds) && good;
  if (!good) std::fprintf(stderr, "a result is not that of one memory\n");
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return creek::ranks(argc, argv, [&](creek::mpi_communicator& all) {
    const auto argument = [&](int i, int usual) { return argc > i ? std::atoi(argv[i]) : usual; };
    const int n = argument(1, 4000), block = argument(2, 64),
              workers = argument(3, all.processors());
    const int rounds = argument(4, 5);
    if (n < 1 || block < 1 || workers < 1 || rounds < 1) {
      std::fprintf(stderr, "usage: mpirun -n P %s [N [BLOCK [WORKERS [ROUNDS]]]]\n", argv[0]);
      return 1;
    }
    return run(all, n, block, static_cast<unsigned>(workers), rounds);
  });
}

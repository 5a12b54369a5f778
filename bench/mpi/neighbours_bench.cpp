// SPDX-License-Identifier: Apache-2.0
// Exchanges between neighbours in a grid of ranks: with the numbers that the launcher has given,
// and with those that creek gives so that neighbours are near. In turns in one run.
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include <creek/mpi.hpp>

#include "../../support/median.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

/// Returns the time of an exchange with all neighbours at once, in microseconds.
double exchange(creek::mpi_communicator& ranks, const creek::neighbour_graph& graph,
                std::size_t bytes, int repeats) {
  const std::vector<int> near = ranks.declare_neighbours(graph);
  const std::vector<char> own(bytes, static_cast<char>(ranks.rank()));
  std::vector<std::vector<char>> halos(near.size(), std::vector<char>(bytes));
  ranks.barrier();
  const auto begin = clock_type::now();
  for (int i = 0; i < repeats; ++i) {
    using request = std::unique_ptr<creek::mpi_communicator::request>;
    std::vector<request> begun;
    for (std::size_t k = 0; k < near.size(); ++k) {
      begun.emplace_back(new auto(ranks.irecv(std::span(halos[k]), near[k])));
      begun.emplace_back(new auto(ranks.isend(std::span(own), near[k])));
    }
    for (const request& each : begun) each->wait();
  }
  ranks.barrier();
  const std::chrono::duration<double, std::micro> spent = clock_type::now() - begin;
  for (std::size_t k = 0; k < near.size(); ++k) {
    if (halos[k] != std::vector<char>(bytes, static_cast<char>(near[k]))) {
      throw creek::error(EIO, "a neighbour's bytes are wrong");
    }
  }
  return spent.count() / repeats;
}

int run(creek::mpi_communicator& all, const creek::neighbour_graph& graph, int rounds) {
  const auto begin = clock_type::now();
  creek::mpi_communicator near(all, graph);
  const std::chrono::duration<double, std::milli> spent = clock_type::now() - begin;
  if (all.rank() == 0) {
    std::printf("numbered in %.1f ms; microseconds per exchange, medians of %d rounds\n",
                spent.count(), rounds);
    std::printf("%10s %12s %12s %8s\n", "bytes", "launcher's", "near", "ratio");
  }
  for (const std::size_t bytes : {8, 1024, 32'768, 262'144}) {
    std::vector<double> before, after, ratios;
    for (int i = 0; i < rounds; ++i) {
      const int repeats = bytes < 100'000 ? 200 : 20;
      before.push_back(exchange(all, graph, bytes, repeats));
      after.push_back(exchange(near, graph, bytes, repeats));
      ratios.push_back(before.back() / after.back());
    }
    if (all.rank() != 0) continue;
    std::printf("%10zu %12.1f %12.1f %8.2f\n", bytes, bench::median(before), bench::median(after),
                bench::median(ratios));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return creek::ranks(argc, argv, [&](creek::mpi_communicator& all) {
    const int rows = argc > 1 ? std::atoi(argv[1]) : 1;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 9;
    if (rows < 1 || all.size() % rows != 0 || rounds < 1) {
      std::fprintf(stderr, "usage: mpirun -n P %s [ROWS [ROUNDS]], P a multiple of ROWS\n",
                   argv[0]);
      return 2;
    }
    return run(all, creek::neighbour_graph::grid({rows, all.size() / rows}), rounds);
  });
}

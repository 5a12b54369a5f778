// SPDX-License-Identifier: Apache-2.0
// skynet [THREADS]: a tree of tasks with ten children per node and 10^8 leaves.
#include <array>
#include <creek/tasking.hpp>
#include <cstdint>
#include <numeric>

#include "benchmark.hpp"

namespace {

constexpr std::uint64_t leaves = 100'000'000;
constexpr std::size_t children = 10;

/// Returns the sum of the numbers of `count` leaves, the first of which is `first`.
std::uint64_t node(std::uint64_t first, std::uint64_t count) {
  if (count == 1) return first;
  const std::uint64_t step = count / children;
  const auto below =
      creek::fork_all<children>([&](std::size_t i) { return node(first + i * step, step); });
  return std::accumulate(below.begin(), below.end(), std::uint64_t{0});
}

void skynet() {
  benchmark::check(node(0, leaves), leaves / 2 * (leaves - 1));
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned threads = benchmark::threads(argc, argv, 1);
  std::printf("threads: %u\n", threads);
  creek::runtime runtime({.workers = threads});
  runtime.run([] {
    skynet();  // warm-up
    benchmark::run("iteration_count", 1, skynet);
  });
}

// SPDX-License-Identifier: Apache-2.0
#include "read_bandwidth.hpp"

#include <algorithm>
#include <chrono>
#include <creek/tasking/parallel_for.hpp>
#include <creek/tasking/parallel_reduce.hpp>
#include <cstdint>
#include <functional>

#include "tpch/columns/buffer.hpp"

namespace creek::tpch {

double read_bandwidth() {
  constexpr std::size_t bytes = std::size_t{256} << 20, count = bytes / sizeof(std::uint64_t);
  constexpr std::size_t piece = std::size_t{1} << 17;
  const buffer memory(bytes);
  auto* const numbers = reinterpret_cast<std::uint64_t*>(memory.data());
  parallel_for_range(std::size_t{0}, count, [=](std::size_t low, std::size_t high) {
    std::fill(numbers + low, numbers + high, 1);
  });
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const auto total =
        parallel_reduce_range(std::size_t{0}, count, std::uint64_t{0},
                              [=](std::size_t low, std::size_t high, std::uint64_t sum) {
                                for (std::size_t i = low; i < high; ++i) sum += numbers[i];
                                return sum;
                              },
                              std::plus{}, {.grain = piece});
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    // The comparison uses the sum, so that the compiler does not remove the reads.
    if (total == count) best = std::max(best, static_cast<double>(bytes) / taken.count());
  }
  return best;
}

}  // namespace creek::tpch

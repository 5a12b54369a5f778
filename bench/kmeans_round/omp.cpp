// SPDX-License-Identifier: Apache-2.0
// A loop for wide vectors, over a share of the points per thread: squared differences of 64 points
// at a time in columns, a comparison and a blend per centre.
#include <omp.h>

#include "config.hpp"

namespace bench::kmeans_round {
namespace {

constexpr std::size_t block = 64, lanes = 16, vectors = block / lanes;
using floats = float __attribute__((vector_size(4 * lanes)));
using ints = std::int32_t __attribute__((vector_size(4 * lanes)));

/// Finds the nearest centre of 64 points, whose coordinates are in columns.
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"))) void find_nearest(
    const floats (*x)[vectors], const float* centres, floats* least, ints* which) {
  for (std::size_t v = 0; v < vectors; ++v) {
    least[v] = floats{} + std::numeric_limits<float>::infinity();
    which[v] = ints{};
  }
  for (std::size_t c = 0; c < clusters; ++c) {
    for (std::size_t v = 0; v < vectors; ++v) {
      floats distance{};
      for (std::size_t j = 0; j < dimensions; ++j) {
        const floats away = x[j][v] - centres[c * dimensions + j];
        distance += away * away;
      }
      const ints nearer = distance < least[v];
      least[v] = nearer ? distance : least[v];
      which[v] = nearer ? ints{} + static_cast<std::int32_t>(c) : which[v];
    }
  }
}

void add_to_nearest(std::span<const float> points, std::span<const float> centres, sums& to) {
  const std::size_t n = points.size() / dimensions;
  floats x[dimensions][vectors] = {};
  for (std::size_t first = 0; first < n; first += block) {
    const std::size_t here = std::min(block, n - first);
    const float* const at = &points[first * dimensions];
    for (std::size_t i = 0; i < here; ++i) {
      for (std::size_t j = 0; j < dimensions; ++j)
        x[j][i / lanes][i % lanes] = at[i * dimensions + j];
    }
    floats least[vectors];
    ints which[vectors];
    find_nearest(x, centres.data(), least, which);
    for (std::size_t i = 0; i < here; ++i) {
      const auto c = static_cast<std::size_t>(which[i / lanes][i % lanes]);
      double* const row = &to[c * (dimensions + 1)];
      for (std::size_t j = 0; j < dimensions; ++j)
        row[j] += static_cast<double>(at[i * dimensions + j]);
      row[dimensions] += 1;
      to.back() += static_cast<double>(least[i / lanes][i % lanes]);
    }
  }
}

sample measure(const settings& s) {
  return timed_round(input_of(s), [&](auto points, auto centres) {
    sums whole{};
#pragma omp parallel num_threads(s.workers)
    {
      sums own{};
      add_to_nearest(share_of(points, unit, static_cast<unsigned>(omp_get_thread_num()),
                              static_cast<unsigned>(omp_get_num_threads())),
                     centres, own);
#pragma omp critical
      for (std::size_t k = 0; k < whole.size(); ++k) whole[k] += own[k];
    }
    return whole;
  });
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::kmeans_round

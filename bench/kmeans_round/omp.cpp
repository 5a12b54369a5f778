// SPDX-License-Identifier: Apache-2.0
// A loop for wide vectors, over a share of the points per thread: squared differences of 64 points
// at a time in columns, a comparison and a blend per centre.
#include "config.hpp"
#include "harness/omp_sums.hpp"

namespace bench::kmeans_round {
namespace {

constexpr std::size_t block = 64, lanes = 16, vectors = block / lanes;
using floats = float __attribute__((vector_size(4 * lanes)));
using ints = std::int32_t __attribute__((vector_size(4 * lanes)));

#if defined(__x86_64__)
#define BENCH_WIDEST [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#else
#define BENCH_WIDEST
#endif

BENCH_WIDEST void add_to_nearest(const float* points, std::size_t n, const float* centres,
                                 double* to) {
  alignas(64) float x[dimensions][block] = {};
  for (std::size_t first = 0; first < n; first += block) {
    const std::size_t here = std::min(block, n - first);
    const float* const at = points + first * dimensions;
    for (std::size_t i = 0; i < here; ++i) {
      for (std::size_t j = 0; j < dimensions; ++j) x[j][i] = at[i * dimensions + j];
    }
    floats least[vectors];
    ints which[vectors];
    for (std::size_t v = 0; v < vectors; ++v) {
      least[v] = floats{} + std::numeric_limits<float>::infinity();
      which[v] = ints{};
    }
    for (std::size_t c = 0; c < clusters; ++c) {
      for (std::size_t v = 0; v < vectors; ++v) {
        floats distance{};
        for (std::size_t j = 0; j < dimensions; ++j) {
          const floats away =
              reinterpret_cast<const floats&>(x[j][lanes * v]) - centres[c * dimensions + j];
          distance += away * away;
        }
        const ints nearer = distance < least[v];
        least[v] = nearer ? distance : least[v];
        which[v] = nearer ? ints{} + static_cast<std::int32_t>(c) : which[v];
      }
    }
    alignas(64) float best[block];
    alignas(64) std::int32_t nearest[block];
    for (std::size_t v = 0; v < vectors; ++v) {
      reinterpret_cast<floats&>(best[lanes * v]) = least[v];
      reinterpret_cast<ints&>(nearest[lanes * v]) = which[v];
    }
    for (std::size_t i = 0; i < here; ++i) {
      double* const row = to + static_cast<std::size_t>(nearest[i]) * (dimensions + 1);
      for (std::size_t j = 0; j < dimensions; ++j)
        row[j] += static_cast<double>(at[i * dimensions + j]);
      row[dimensions] += 1;
      to[clusters * (dimensions + 1)] += static_cast<double>(best[i]);
    }
  }
}

sample measure(const settings& s) {
  return timed_round(input_of(s), [&](auto points, auto centres) {
    return omp_sums<sums>(s, points, unit, [&](auto share, sums& own) {
      add_to_nearest(share.data(), share.size() / dimensions, centres.data(), own.data());
    });
  });
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::kmeans_round

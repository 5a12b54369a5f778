// SPDX-License-Identifier: Apache-2.0
// The plain loop of a round of k-means for the vectors of this machine: squared differences of 64
// points at a time in columns, a comparison and a blend per centre.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "loops.hpp"

namespace creek_bench {

void native_k_means(std::span<const float> points, std::span<const float> centres,
                    std::span<double> sums) {
  constexpr std::size_t block = 64, d = 3;
  const std::size_t n = points.size() / d, k = centres.size() / d;
  alignas(64) float x[d][block] = {};
  for (std::size_t first = 0; first < n; first += block) {
    const std::size_t here = std::min(block, n - first);
    const float* const at = &points[first * d];
    for (std::size_t i = 0; i < here; ++i) {
      for (std::size_t j = 0; j < d; ++j) x[j][i] = at[i * d + j];
    }
    alignas(64) float best[block];
    alignas(64) std::int32_t nearest[block];
    using floats = float __attribute__((vector_size(64)));
    using ints = std::int32_t __attribute__((vector_size(64)));
    constexpr std::size_t vectors = block / 16;
    floats least[vectors];
    ints which[vectors];
    for (std::size_t v = 0; v < vectors; ++v) {
      least[v] = floats{} + std::numeric_limits<float>::infinity();
      which[v] = ints{};
    }
    for (std::size_t c = 0; c < k; ++c) {
      for (std::size_t v = 0; v < vectors; ++v) {
        floats distance{};
        for (std::size_t j = 0; j < d; ++j) {
          const floats away = reinterpret_cast<const floats&>(x[j][16 * v]) - centres[c * d + j];
          distance += away * away;
        }
        const ints nearer = distance < least[v];
        least[v] = nearer ? distance : least[v];
        which[v] = nearer ? ints{} + static_cast<std::int32_t>(c) : which[v];
      }
    }
    for (std::size_t v = 0; v < vectors; ++v) {
      reinterpret_cast<floats&>(best[16 * v]) = least[v];
      reinterpret_cast<ints&>(nearest[16 * v]) = which[v];
    }
    for (std::size_t i = 0; i < here; ++i) {
      const auto c = static_cast<std::size_t>(nearest[i]);
      double* const row = &sums[c * (d + 1)];
      for (std::size_t j = 0; j < d; ++j) row[j] += static_cast<double>(at[i * d + j]);
      row[d] += 1;
      sums.back() += static_cast<double>(best[i]);
    }
  }
}

}  // namespace creek_bench

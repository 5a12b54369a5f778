// SPDX-License-Identifier: Apache-2.0
// The plain loop.
#include "config.hpp"

namespace bench::kmeans_round {
namespace {

sums add_to_nearest(std::span<const float> points, std::span<const float> centres) {
  sums all{};
  for (std::size_t at = 0; at < points.size(); at += dimensions) {
    float best = std::numeric_limits<float>::infinity();
    std::size_t nearest = 0;
    for (std::size_t c = 0; c < clusters; ++c) {
      float distance = 0;
      for (std::size_t j = 0; j < dimensions; ++j) {
        const float away = points[at + j] - centres[c * dimensions + j];
        distance += away * away;
      }
      if (distance < best) {
        best = distance;
        nearest = c;
      }
    }
    double* const row = &all[nearest * (dimensions + 1)];
    for (std::size_t j = 0; j < dimensions; ++j) row[j] += static_cast<double>(points[at + j]);
    row[dimensions] += 1;
    all.back() += static_cast<double>(best);
  }
  return all;
}

const registration registered{
    what, [](const settings& s) { return timed_round(input_of(s), add_to_nearest); }};

}  // namespace
}  // namespace bench::kmeans_round

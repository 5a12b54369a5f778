// SPDX-License-Identifier: Apache-2.0
// A round of k-means: n points in three dimensions, each added to the nearest of 100 centres. The
// coordinates are whole numbers below 1024, so distances in float and sums in double are exact, and
// all peers have the same answer; of equally near centres the first counts.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "../support/zipf_text.hpp"
#include "harness/array_sums.hpp"
#include "harness/workload.hpp"

namespace bench::kmeans_round {

inline constexpr description what{.name = "kmeans_round",
                                  .about = "a round: n points in 3 dimensions, 100 centres",
                                  .unit = "M points/s",
                                  .full = 1'000'000,
                                  .quick = 1'000'000,
                                  .smoke = 5000,
                                  .rate = true,
                                  .scale = 1e3,
                                  .groups = "mapreduce"};

inline constexpr std::size_t dimensions = 3, unit = dimensions, clusters = 100;
/// For each centre the sums of the coordinates and the number of its points; the squared distances.
using sums = std::array<double, clusters*(dimensions + 1) + 1>;

inline std::vector<float> input_of(const settings& s) {
  creek_bench::random_bits random(3);
  const auto n = std::max(static_cast<std::size_t>(s.n), clusters);
  std::vector<float> points(n * dimensions);
  for (float& one : points) one = static_cast<float>(random() >> 54);
  return points;
}
/// The centres are the first points.
inline std::span<const float> centres_of(const std::vector<float>& points) {
  return std::span(points).first(clusters * dimensions);
}

/// Runs `round(points, centres)`, which returns sums, and times it.
template <class Round>
sample timed_round(const std::vector<float>& points, const Round& round) {
  const auto centres = centres_of(points);
  sample result =
      timed_sums(points, [&](std::span<const float> all) { return round(all, centres); });
  result.work = static_cast<double>(points.size() / dimensions);
  return result;
}

}  // namespace bench::kmeans_round

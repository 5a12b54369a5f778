// SPDX-License-Identifier: Apache-2.0
// k-means clustering [Lloyd 1982]: an iterative job (rounds.hpp) whose state is the centres.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include <creek/core/language.hpp>

namespace creek::mapreduce {

/// Adds to `sums` what points contribute to a round: for centre c of k in d dimensions, the sums of
/// the coordinates of the points nearest to it at sums[c * (d + 1)] and on, then their number; at
/// sums[k * (d + 1)] the squares of all distances. `points` n x d and `centres` k x d by rows. Of
/// centres equally near the first counts. Distances are computed in float, from differences of
/// coordinates, with vector code chosen at run time; sums in double. Finite coordinates; any
/// thread. Cost: about 3 n k d flops.
void add_to_nearest(std::span<const float> points, std::span<const float> centres,
                    std::size_t dimensions, std::span<double> sums) noexcept;

/// A round. Its input is an array of coordinates cut between points: a split of `dimensions` times
/// something. Results do not depend on the workers, to the bit.
struct k_means_round {
  using key_type = std::size_t;
  using value_type = double;
  static constexpr bool in_order = true;

  std::span<const float> centres;
  std::size_t dimensions;

  [[nodiscard]] std::size_t dense_keys() const {
    return centres.size() / dimensions * (dimensions + 1) + 1;
  }
  void fill(std::span<const float> points, std::span<double> into) const noexcept {
    add_to_nearest(points, centres, dimensions, into);
  }
  static void combine(double& into, double from) noexcept { into += from; }
};

struct k_means_options {
  std::size_t clusters = 8;
  std::size_t dimensions = 2;
  std::uint64_t seed = 0;  ///< chooses the points that are the first centres
  std::size_t most_rounds = 300;
  /// A round that moves no centre further than this is the last.
  double tolerance = 0;
  std::stop_token stop = {};
};

struct k_means_result {
  std::vector<float> centres;        ///< clusters x dimensions, by rows
  std::vector<std::uint64_t> sizes;  ///< points nearest to each before its last move
  double inertia = 0;                ///< sum of the squared distances to them then
  std::size_t rounds = 0;
  bool converged = false;  ///< the last round moved no centre further than tolerated
  std::chrono::nanoseconds round_time{0};  ///< of all rounds together
};

/// Clusters points, n x options.dimensions by rows. The first centres are different points chosen
/// at random (equal points may be chosen); a centre that no point is nearest to stays where it is.
/// Threads: as mapreduce::run. Throws usage_error for options that do not fit the points, and
/// creek::error naming a point with a coordinate that is not a number of size at most 1e15, before
/// any work; creek::error (ECANCELED) once stopped.
[[nodiscard]] k_means_result k_means(std::span<const float> points, const k_means_options& options);

}  // namespace creek::mapreduce

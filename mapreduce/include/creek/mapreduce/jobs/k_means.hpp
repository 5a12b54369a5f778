// SPDX-License-Identifier: Apache-2.0
// k-means clustering [Lloyd 1982]: an iterative job (rounds.hpp); its state is the centres.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include <creek/core/language.hpp>

namespace creek {
class any_communicator;
class runtime;
}  // namespace creek

namespace creek::mapreduce {

/// Adds the contribution of `points` to a round to `sums`: for centre c of k in d dimensions, the
/// sums of the coordinates of the points nearest to it from sums[c * (d + 1)] on, then their
/// number; at sums[k * (d + 1)] the sum of all squared distances. `points` is n x d and `centres` k
/// x d, row-major. Of equally near centres the first counts. Distances are compared as if they were
/// computed in double: in float by vector code chosen at run time, then in double where rounding
/// may decide. A point without a finite distance to any centre, as one with a coordinate that is
/// NaN, counts for the first centre. Throws std::bad_alloc; any thread. Cost: about 2 n k d flops.
void add_to_nearest(std::span<const float> points, std::span<const float> centres,
                    std::size_t dimensions, std::span<double> sums);

/// One round. Its input is an array of coordinates, cut between points: a split is a multiple of
/// `dimensions`. Results do not depend on the number of workers, to the bit.
struct k_means_round {
  using key_type = std::size_t;
  using value_type = double;
  static constexpr bool in_order = true;

  std::span<const float> centres;
  std::size_t dimensions;

  [[nodiscard]] std::size_t dense_keys() const {
    return centres.size() / dimensions * (dimensions + 1) + 1;
  }
  void fill(std::span<const float> points, std::span<double> into) const {
    add_to_nearest(points, centres, dimensions, into);
  }
  static void combine(double& into, double from) noexcept { into += from; }
};

/// Whether k_means() keeps bounds for the distances of points to centres, 8 bytes per point, with
/// which a round compares only points with all centres that may have changed theirs [Hamerly 2010].
/// The results are the same to the bit. `automatic` decides by the numbers of centres and points.
enum class k_means_bounds { automatic, off, on };

/// The points that k_means() starts from, all different points (they may have equal coordinates):
/// chosen at random; by k-means++, each with a probability proportional to the squared distance to
/// the nearest point chosen before [Arthur 2007]; or the first ones. k-means++ takes a pass over
/// the points per centre, and most often fewer rounds and a smaller inertia than `random`.
enum class k_means_start { random, plus_plus, first };

struct k_means_options {
  std::size_t clusters = 8;
  std::size_t dimensions = 2;
  k_means_start start = k_means_start::random;
  std::uint64_t seed = 0;  ///< seed of the choice of the first centres
  std::size_t max_rounds = 300;
  /// A round that moves no centre further than this ends the iteration.
  double tolerance = 0;
  k_means_bounds bounds = k_means_bounds::automatic;
  std::stop_token stop = {};
};

struct k_means_result {
  std::vector<float> centres;        ///< clusters x dimensions, by rows
  std::vector<std::uint64_t> sizes;  ///< points nearest to each centre before its last move
  double inertia = 0;                ///< sum of the squared distances to them before it
  std::size_t rounds = 0;
  bool converged = false;  ///< the last round moved no centre further than tolerated
  std::chrono::nanoseconds round_time{0};  ///< total of all rounds
};

/// Clusters `points`, n x options.dimensions, row-major. A centre without a nearest point does not
/// move. Threads as in mapreduce::run. Throws usage_error for options that do not match the points,
/// and, before any work, creek::error naming a point with a coordinate that is not a number of
/// magnitude <= 1e15; creek::error (ECANCELED) once a stop is requested.
[[nodiscard]] k_means_result k_means(std::span<const float> points, const k_means_options& options);

/// Consecutive points.
struct point_range {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Returns the part of `n` points that one of several ranks has in k_means_on_machines(). Of more
/// than 256 ranks, and of few points, some have none.
[[nodiscard]] point_range k_means_share(std::size_t n, int rank, int ranks);

/// Clusters the points of all ranks of a communicator, each of which passes its share of them, with
/// the workers of a runtime on each. All ranks call it with equal options, outside of tasks, and
/// get the result, which is that of k_means() of all points, to the bit, if the ranks have the same
/// instruction set. A round sends its sums from rank to rank, which add their parts in order.
/// Throws like k_means() and, if the points are not this rank's share, usage_error; the program has
/// to end then.
[[nodiscard]] k_means_result k_means_on_machines(std::span<const float> points,
                                                 any_communicator& ranks, runtime& rt,
                                                 const k_means_options& options);

}  // namespace creek::mapreduce

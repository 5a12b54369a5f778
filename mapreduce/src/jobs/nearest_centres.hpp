// SPDX-License-Identifier: Apache-2.0
// The kernels of k-means that k_means.cpp drives: nearest centres, with or without bounds that
// save comparisons [Hamerly 2010].
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace creek::mapreduce::detail {

/// A lower bound for the distance of each of some points to every centre but its nearest.
struct centre_bounds {
  std::int32_t* nearest;  ///< per point: the nearest centre in the last round
  float* lower;           ///< per point: no other centre was nearer than this in the last round
};

/// The moves of the centres since the last round.
struct centre_moves {
  std::span<const float> half_gap;  ///< per centre: half the distance to the nearest other, or less
  std::size_t furthest;             ///< the centre that moved furthest
  float longest;                    ///< its move, or more
  float others;                     ///< the longest move of any other centre, or more
};

/// Does the same as add_to_nearest, to the bit, and keeps `bounds`. With `moves` only those points
/// are compared with all centres whose bounds of the last round, less the moves, do not show that
/// their centre is still the nearest. Without `sums` only the bounds are found. `points` are fewer
/// than 2^31, and so are the coordinates of `centres`.
void find_nearest(std::span<const float> points, std::span<const float> centres,
                  std::size_t dimensions, const centre_bounds& bounds, const centre_moves* moves,
                  std::span<double> sums);

/// A call of the kernels for one instruction set.
struct split_of_points {
  const float* points;
  std::size_t n;
  std::span<const float> centres;
  std::size_t dimensions;
  double* sums = nullptr;                 // null: not wanted
  const centre_bounds* bounds = nullptr;  // null: none are kept
  const centre_moves* moves = nullptr;    // null: the first round
};

/// Returns the squared distance of two points, computed in double.
double exact_distance(const float* a, const float* b, std::size_t dimensions) noexcept;

}  // namespace creek::mapreduce::detail

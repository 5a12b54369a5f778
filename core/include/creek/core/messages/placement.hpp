// SPDX-License-Identifier: Apache-2.0
// Places ranks on cores, or on any places that are at a distance from each other, so that
// neighbours are near.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <creek/core/messages/neighbour_graph.hpp>

namespace creek {

/// Distances between places, in any unit; the same in both directions.
class place_distances {
 public:
  /// Takes the distance from place i to place j as element i * places + j. Throws usage_error if
  /// the number of elements is not a square, or one is negative or differs in the other direction.
  explicit place_distances(std::vector<int> distances);

  [[nodiscard]] int places() const noexcept { return places_; }
  [[nodiscard]] int between(int a, int b) const noexcept {
    return distances_[static_cast<std::size_t>(a) * static_cast<std::size_t>(places_) +
                      static_cast<std::size_t>(b)];
  }

 private:
  std::vector<int> distances_;
  int places_ = 0;
};

/// Returns the sum of the distances between neighbours, each pair once, if rank i is at
/// `placement[i]`.
[[nodiscard]] std::int64_t placement_cost(const neighbour_graph& graph,
                                          const place_distances& distances,
                                          std::span<const int> placement);

/// Returns a place for each rank, all different, with a low placement_cost(). The same for the same
/// arguments, and never worse than rank i at place i. It tries each place for the first rank, or
/// some of more than 128 places; ranks follow that have the most placed neighbours, each where it
/// is nearest to these, or near places each with the rank that has the nearest neighbours; then
/// ranks change places, or move to free ones, while that helps. A heuristic: the best placement is
/// a quadratic assignment problem. Takes milliseconds for a grid on 48 places. Throws usage_error
/// if there are more ranks than places.
[[nodiscard]] std::vector<int> place_near(const neighbour_graph& graph,
                                          const place_distances& distances);

}  // namespace creek

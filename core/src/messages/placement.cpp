// SPDX-License-Identifier: Apache-2.0
#include <creek/core/messages/placement.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <creek/core/error.hpp>

namespace creek {
namespace {

constexpr int nobody = -1;

/// A placement under construction: ranks on places.
class trial {
 public:
  trial(const neighbour_graph& graph, const place_distances& distances)
      : graph_{graph},
        distances_{distances},
        place_of_(static_cast<std::size_t>(graph.size()), nobody),
        rank_at_(static_cast<std::size_t>(distances.places()), nobody) {}

  void put(int rank, int place) {
    place_of_[static_cast<std::size_t>(rank)] = place;
    rank_at_[static_cast<std::size_t>(place)] = rank;
  }

  /// Places all ranks, the one with the most neighbours first, at `place`.
  void grow_from(int place) {
    for (int rank = next_rank(); rank != nobody; rank = next_rank()) {
      put(rank, place == nobody ? nearest_free_place(rank) : place);
      place = nobody;
    }
  }

  /// Exchanges the ranks of two places, one of which may be free, while that lowers the cost.
  void refine() {
    for (bool better = true; better;) {
      better = false;
      for (int a = 0; a < distances_.places(); ++a) {
        for (int b = a + 1; b < distances_.places(); ++b) better |= exchange_if_better(a, b);
      }
    }
  }

  [[nodiscard]] std::int64_t cost() const { return placement_cost(graph_, distances_, place_of_); }
  [[nodiscard]] std::vector<int> take() && { return std::move(place_of_); }

 private:
  /// Returns the rank that is not placed and has the most placed neighbours, then the most
  /// neighbours, then the lowest number.
  [[nodiscard]] int next_rank() const {
    int best = nobody;
    std::pair<std::ptrdiff_t, std::size_t> most;
    for (int rank = 0; rank < graph_.size(); ++rank) {
      if (place_of_[static_cast<std::size_t>(rank)] != nobody) continue;
      const auto near = graph_.of(rank);
      const auto placed = std::count_if(near.begin(), near.end(), [&](int other) {
        return place_of_[static_cast<std::size_t>(other)] != nobody;
      });
      const std::pair has{placed, near.size()};
      if (best != nobody && has <= most) continue;
      best = rank;
      most = has;
    }
    return best;
  }
  [[nodiscard]] int nearest_free_place(int rank) const {
    int best = nobody;
    std::pair<std::int64_t, std::int64_t> least;
    for (int place = 0; place < distances_.places(); ++place) {
      if (rank_at_[static_cast<std::size_t>(place)] != nobody) continue;
      const std::pair away{cost_of(rank, place), distance_to_placed(place)};
      if (best != nobody && away >= least) continue;
      best = place;
      least = away;
    }
    return best;
  }
  /// Returns the distances from `place` to the rank's placed neighbours.
  [[nodiscard]] std::int64_t cost_of(int rank, int place) const {
    std::int64_t sum = 0;
    for (const int other : graph_.of(rank)) {
      const int there = place_of_[static_cast<std::size_t>(other)];
      if (there != nobody) sum += distances_.between(place, there);
    }
    return sum;
  }
  /// Keeps the placed ranks together where neighbours leave a choice.
  [[nodiscard]] std::int64_t distance_to_placed(int place) const {
    std::int64_t sum = 0;
    for (const int there : place_of_) {
      if (there != nobody) sum += distances_.between(place, there);
    }
    return sum;
  }

  [[nodiscard]] std::int64_t cost_at(int place) const {
    const int rank = rank_at_[static_cast<std::size_t>(place)];
    return rank == nobody ? 0 : cost_of(rank, place);
  }
  bool exchange_if_better(int a, int b) {
    // A pair of neighbours at the two places counts twice before and after.
    const std::int64_t before = cost_at(a) + cost_at(b);
    exchange(a, b);
    if (cost_at(a) + cost_at(b) < before) return true;
    exchange(a, b);
    return false;
  }
  void exchange(int a, int b) {
    std::swap(rank_at_[static_cast<std::size_t>(a)], rank_at_[static_cast<std::size_t>(b)]);
    for (const int place : {a, b}) {
      const int rank = rank_at_[static_cast<std::size_t>(place)];
      if (rank != nobody) place_of_[static_cast<std::size_t>(rank)] = place;
    }
  }

  const neighbour_graph& graph_;
  const place_distances& distances_;
  std::vector<int> place_of_;
  std::vector<int> rank_at_;
};

}  // namespace

place_distances::place_distances(std::vector<int> distances) : distances_{std::move(distances)} {
  const std::size_t elements = distances_.size();
  std::size_t side = 0;
  while (side * side < elements) ++side;
  if (side * side != elements) {
    throw usage_error("place_distances: needs a distance for each two places, got " +
                      std::to_string(elements));
  }
  places_ = static_cast<int>(side);
  for (int a = 0; a < places_; ++a) {
    for (int b = 0; b < places_; ++b) {
      if (between(a, b) < 0 || between(a, b) != between(b, a)) {
        throw usage_error("place_distances: the distance between places " + std::to_string(a) +
                          " and " + std::to_string(b) +
                          " must not be negative, and be the same in both directions");
      }
    }
  }
}

std::int64_t placement_cost(const neighbour_graph& graph, const place_distances& distances,
                            std::span<const int> placement) {
  std::int64_t sum = 0;
  for (int rank = 0; rank < graph.size(); ++rank) {
    for (const int other : graph.of(rank)) {
      if (other < rank) continue;
      sum += distances.between(placement[static_cast<std::size_t>(rank)],
                               placement[static_cast<std::size_t>(other)]);
    }
  }
  return sum;
}

std::vector<int> place_near(const neighbour_graph& graph, const place_distances& distances) {
  if (graph.size() > distances.places()) {
    throw usage_error("place_near: " + std::to_string(graph.size()) + " ranks on " +
                      std::to_string(distances.places()) + " places");
  }
  trial in_order(graph, distances);
  for (int rank = 0; rank < graph.size(); ++rank) in_order.put(rank, rank);
  in_order.refine();
  std::int64_t least = in_order.cost();
  std::vector<int> found = std::move(in_order).take();
  for (int first = 0; first < distances.places(); ++first) {
    trial other(graph, distances);
    other.grow_from(first);
    other.refine();
    if (const std::int64_t cost = other.cost(); cost < least) {
      least = cost;
      found = std::move(other).take();
    }
  }
  return found;
}

}  // namespace creek

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
        rank_at_(static_cast<std::size_t>(distances.places()), nobody),
        distance_to_placed_(rank_at_.size()),
        reached_(place_of_.size(), graph.size()) {
    for (int place = 0; place < distances.places(); ++place) {
      max_distance_ = std::max<std::int64_t>(max_distance_, distances.between(0, place));
    }
  }

  void put(int rank, int place) {
    place_of_[static_cast<std::size_t>(rank)] = place;
    rank_at_[static_cast<std::size_t>(place)] = rank;
    for (int other = 0; other < distances_.places(); ++other) {
      distance_to_placed_[static_cast<std::size_t>(other)] += distances_.between(other, place);
    }
  }

  /// Places all ranks, the one with the most neighbours first, at `place`.
  void grow_from(int place) {
    for (int rank = next_rank(); rank != nobody; rank = next_rank()) {
      put(rank, place == nobody ? nearest_free_place(rank) : place);
      place = nobody;
    }
  }

  /// Fills the places near those that are taken, from `place` on, each with the rank that has the
  /// nearest neighbours: so machines with several places are filled one after the other.
  void fill_from(int place) {
    for (int placed = 0; placed < graph_.size(); ++placed) {
      const int rank = rank_for(place);
      put(rank, place);
      for (const int other : graph_.of(rank)) {
        int& reached = reached_[static_cast<std::size_t>(other)];
        reached = std::min(reached, placed);
      }
      place = nearest_free_place();
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
  /// Returns the rank that is not placed and has the most placed neighbours, the nearest ones
  /// counting most; of several the one whose first neighbour was placed first, so that the placed
  /// ranks are about a ball.
  [[nodiscard]] int rank_for(int place) const {
    int best = nobody;
    std::pair<std::int64_t, int> most;
    for (int rank = 0; rank < graph_.size(); ++rank) {
      if (place_of_[static_cast<std::size_t>(rank)] != nobody) continue;
      std::int64_t nearness = 0;
      for (const int other : graph_.of(rank)) {
        const int there = place_of_[static_cast<std::size_t>(other)];
        if (there != nobody) nearness += max_distance_ + 1 - distances_.between(place, there);
      }
      const std::pair has{nearness, -reached_[static_cast<std::size_t>(rank)]};
      if (best != nobody && has <= most) continue;
      best = rank;
      most = has;
    }
    return best;
  }
  [[nodiscard]] int nearest_free_place() const {
    int best = nobody;
    for (int place = 0; place < distances_.places(); ++place) {
      if (rank_at_[static_cast<std::size_t>(place)] != nobody) continue;
      if (best == nobody || distance_to_placed_[static_cast<std::size_t>(place)] <
                                distance_to_placed_[static_cast<std::size_t>(best)]) {
        best = place;
      }
    }
    return best;
  }
  [[nodiscard]] int nearest_free_place(int rank) const {
    int best = nobody;
    std::pair<std::int64_t, std::int64_t> least;
    for (int place = 0; place < distances_.places(); ++place) {
      if (rank_at_[static_cast<std::size_t>(place)] != nobody) continue;
      // Keeps the placed ranks together where neighbours leave a choice.
      const std::pair away{cost_of(rank, place),
                           distance_to_placed_[static_cast<std::size_t>(place)]};
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
  std::vector<std::int64_t> distance_to_placed_;  ///< by place, before refine()
  std::vector<int> reached_;       ///< by rank: how many were placed before its first neighbour
  std::int64_t max_distance_ = 0;  ///< from place 0; an estimate of the largest
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
  // A trial takes a multiple of places^2 steps: some 0.1 s for 1024 places.
  constexpr std::int64_t steps = std::int64_t{1} << 21;
  const std::int64_t places = distances.places();
  const std::int64_t trials = std::clamp<std::int64_t>(steps / (places * places), 1, places);
  for (std::int64_t i = 0; i < trials; ++i) {
    const auto first = static_cast<int>(i * places / trials);
    for (const bool by_rank : {true, false}) {
      trial other(graph, distances);
      by_rank ? other.grow_from(first) : other.fill_from(first);
      other.refine();
      if (const std::int64_t cost = other.cost(); cost < least) {
        least = cost;
        found = std::move(other).take();
      }
    }
  }
  return found;
}

}  // namespace creek

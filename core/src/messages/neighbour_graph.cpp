// SPDX-License-Identifier: Apache-2.0
#include <creek/core/messages/neighbour_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <creek/core/error.hpp>

namespace creek {
namespace {

constexpr std::size_t max_ranks = std::size_t{1} << 20;  // a bound for the memory of a graph

[[noreturn]] void refuse(int rank, int neighbour, const char* why) {
  throw usage_error("neighbour_graph: rank " + std::to_string(neighbour) +
                    ", a neighbour of rank " + std::to_string(rank) + ", " + why);
}

bool contains(const std::vector<int>& ranks, int rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

/// Returns the number of ranks in steps of one in the dimension, or throws.
std::size_t ranks_of(const std::vector<int>& dimensions, const std::vector<bool>& periodic) {
  if (!periodic.empty() && periodic.size() != dimensions.size()) {
    throw usage_error("neighbour_graph: " + std::to_string(dimensions.size()) +
                      " dimensions need as many values that say which are periodic, not " +
                      std::to_string(periodic.size()));
  }
  std::size_t ranks = 1;
  for (const int length : dimensions) {
    if (length < 1) {
      throw usage_error("neighbour_graph: a dimension must be 1 or more, got " +
                        std::to_string(length));
    }
    ranks *= static_cast<std::size_t>(length);
    if (ranks > max_ranks) {
      throw usage_error("neighbour_graph: a grid must have at most " + std::to_string(max_ranks) +
                        " ranks");
    }
  }
  return ranks;
}

}  // namespace

neighbour_graph::neighbour_graph(std::vector<std::vector<int>> neighbours)
    : neighbours_{std::move(neighbours)} {
  for (int rank = 0; rank < size(); ++rank) {
    const auto& mine = neighbours_[static_cast<std::size_t>(rank)];
    for (const int other : mine) {
      if (other < 0 || other >= size()) refuse(rank, other, "is not one of the ranks");
      if (other == rank) refuse(rank, other, "is the same rank");
      if (std::count(mine.begin(), mine.end(), other) != 1) refuse(rank, other, "is named twice");
      if (!contains(neighbours_[static_cast<std::size_t>(other)], rank)) {
        refuse(rank, other, "does not have that rank among its own");
      }
    }
  }
}

neighbour_graph neighbour_graph::grid(const std::vector<int>& dimensions,
                                      const std::vector<bool>& periodic) {
  std::vector<std::vector<int>> all(ranks_of(dimensions, periodic));
  for (int rank = 0; rank < static_cast<int>(all.size()); ++rank) {
    auto& mine = all[static_cast<std::size_t>(rank)];
    int step = static_cast<int>(all.size());
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
      const int length = dimensions[d];
      step /= length;
      const int at = rank / step % length;
      for (const int next : {at - 1, at + 1}) {
        const bool beyond = next < 0 || next >= length;
        if (beyond && (periodic.empty() || !periodic[d])) continue;
        const int other = rank + ((next + length) % length - at) * step;
        if (other != rank && !contains(mine, other)) mine.push_back(other);
      }
    }
  }
  return neighbour_graph(std::move(all));
}

}  // namespace creek

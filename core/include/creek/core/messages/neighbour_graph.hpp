// SPDX-License-Identifier: Apache-2.0
// The pairs of ranks that send each other most messages: a grid, or any graph.
#pragma once

#include <span>
#include <vector>

#include <creek/core/language.hpp>

namespace creek {

/// The neighbours of each rank 0 .. size() - 1. If a rank is a neighbour of another, the other is a
/// neighbour of it; none is its own.
class neighbour_graph {
 public:
  /// Takes the neighbours of each rank, in any order. Throws usage_error if a rank is unknown, its
  /// own neighbour, named twice, or a neighbour on one side only.
  explicit neighbour_graph(std::vector<std::vector<int>> neighbours);

  /// Returns a grid of ranks, numbered like the elements of a C array with these dimensions. A
  /// rank's neighbours are listed by dimension, the lower one first; those beyond an edge are left
  /// out, unless that dimension is periodic. `periodic` has a value per dimension or is empty: none
  /// is. Throws usage_error if a dimension is not positive, or for too many ranks.
  [[nodiscard]] static neighbour_graph grid(const std::vector<int>& dimensions,
                                            const std::vector<bool>& periodic = {});

  [[nodiscard]] int size() const noexcept { return static_cast<int>(neighbours_.size()); }
  [[nodiscard]] std::span<const int> of(int rank) const noexcept {
    return neighbours_[static_cast<std::size_t>(rank)];
  }

 private:
  std::vector<std::vector<int>> neighbours_;
};

}  // namespace creek

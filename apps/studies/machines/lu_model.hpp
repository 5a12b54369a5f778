// SPDX-License-Identifier: Apache-2.0
// LU with partial pivoting on a grid of ranks with the messages of getrf_on_grid()
// (creek/linalg/grids.hpp), whose elements nobody computes: the operations are charged.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <creek/linalg/grid_matrix.hpp>

#include "constants.hpp"
#include "model_communicator.hpp"

namespace creek::tool::machines {

/// Square matrix of doubles in square blocks on a grid, and the pivots of its factorization.
class lu_problem {
 public:
  using index_t = linalg::index_t;

  /// `pivot(i)` is the row that is exchanged with row i, in [i, n).
  lu_problem(index_t n, index_t block, int rows, int cols,
             const std::function<index_t(index_t)>& pivot);

  /// Rows that the exchange after a panel moves, by row of the grid: up to the panel's top rows,
  /// and down from there.
  struct moves {
    std::vector<index_t> up, down;
  };
  [[nodiscard]] const moves& moves_of(index_t first) const {
    return moves_[static_cast<std::size_t>(first / block)];
  }

  index_t n, block;
  int rows, cols;

 private:
  std::vector<moves> moves_;
};

/// Returns a pivot for each row of a matrix of random elements: any row from i on, drawn from a
/// fixed sequence.
[[nodiscard]] linalg::index_t random_pivot(linalg::index_t i, linalg::index_t n);

/// One rank of the factorization.
void lu_rank(model_communicator& c, const constants& costs, const lu_problem& problem);

}  // namespace creek::tool::machines

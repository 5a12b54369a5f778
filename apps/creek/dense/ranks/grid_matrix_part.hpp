// SPDX-License-Identifier: Apache-2.0
// A rank's columns of a generated matrix on a row of ranks: filled, factored, collected.
#pragma once

#include <cstdint>
#include <vector>

#include <creek/linalg/generate.hpp>
#include <creek/linalg/grid_matrix.hpp>
#include <creek/mpi.hpp>
#include <creek/tasking/runtime.hpp>

#include "dense/problem.hpp"
#include "studies/chip/scc_messages.hpp"

namespace creek::tool::dense {

class grid_matrix_part {
 public:
  /// A square matrix of order `n` in blocks of `block` columns.
  grid_matrix_part(mpi_communicator& ranks, method how, index_t n, index_t block,
                   std::uint64_t seed);

  /// Makes this rank's columns anew.
  void fill();
  /// Factors the matrix on the workers, or in the calling thread if that is null. All ranks call
  /// it.
  void factor(runtime* workers);
  [[nodiscard]] index_t info() const noexcept { return info_; }
  /// Collects the factors at rank 0 and returns the worst residual there. All ranks call it.
  [[nodiscard]] judgement judge();

 private:
  [[nodiscard]] double* column(index_t local) { return columns_.data() + local * n_; }
  void collect(rank_factors& whole);

  mpi_communicator& ranks_;
  method how_;
  index_t n_, block_;
  linalg::matrix_recipe recipe_;
  std::vector<double> columns_;
  linalg::grid_view<double> view_;
  std::vector<index_t> pivots_;
  std::vector<double> tau_;
  index_t info_ = 0;
};

}  // namespace creek::tool::dense

// SPDX-License-Identifier: Apache-2.0
// Shared parts of solving with tile factorizations: right-hand sides in blocks that match the
// tiles, and triangular systems of the tiles on and above the diagonal.
#pragma once

#include <algorithm>
#include <memory>

#include <creek/linalg/blas3.hpp>
#include <creek/linalg/task_graph.hpp>
#include <creek/linalg/tile_matrix.hpp>

#include "blas3/level3.hpp"
#include "kernels/product.hpp"
#include "tile_tasks.hpp"

namespace creek::linalg::detail {

/// Column-major matrix in blocks of the tile size. The tasks identify a block by the address of its
/// first element.
template <scalar T>
struct blocked_view {
  matrix_view<T> B;
  index_t size;

  index_t row_blocks() const noexcept { return (B.rows() + size - 1) / size; }
  index_t col_blocks() const noexcept { return (B.cols() + size - 1) / size; }
  matrix_view<T> block(index_t i, index_t j) const noexcept {
    return B.block(i * size, j * size, std::min(size, B.rows() - i * size),
                   std::min(size, B.cols() - j * size));
  }
};

/// Enqueues the solution of op(U) X = B for the upper triangle of the first min(m, n) columns of
/// `tiles`, which `owner` keeps alive; the first min(m, n) rows of B become X.
template <scalar T>
void add_upper_solve(task_graph& graph, const std::shared_ptr<const void>& owner,
                     const_tile_view<T> tiles, op how, const blocked_view<T>& B) {
  const index_t steps = std::min(tiles.tile_rows(), tiles.tile_cols());
  const bool forwards = how != op::none;
  for (index_t j = 0; j < B.col_blocks(); ++j) {
    for (index_t s = 0; s < steps; ++s) {
      const index_t k = forwards ? s : steps - 1 - s;
      const const_view<T> whole = tiles.tile(k, k);
      const index_t n = std::min(whole.rows(), whole.cols());
      const const_view<T> U = whole.block(0, 0, n, n);
      const matrix_view<T> X = B.block(k, j).block(0, 0, n, B.block(k, j).cols());
      const auto cols = static_cast<double>(X.cols());
      const auto order = static_cast<double>(n);
      graph.add({"trsm", flops_of<T>(order * order * cols / 2)}, {in_whole(U), inout_whole(X)},
                [owner, how, U, X] {
                  trsm_by<this_thread, T>(side::left, triangle::upper, how, diagonal::stored, T{1},
                                          U, X);
                });
      for (index_t i = forwards ? k + 1 : 0; i < (forwards ? steps : k); ++i) {
        const const_view<T> across = forwards ? tiles.tile(k, i) : tiles.tile(i, k);
        const matrix_view<T> C = B.block(i, j);
        graph.add({"gemm", flops_of<T>(order * static_cast<double>(C.rows()) * cols)},
                  {in_whole(across), in_whole(X), inout_whole(C)}, [owner, how, across, X, C] {
                    const const_view<T> a = across;
                    multiply_add_here(T{-1}, strided_of(a, how), strided_of<T>(X, op::none),
                                      X.rows(), C);
                  });
      }
    }
  }
}

}  // namespace creek::linalg::detail

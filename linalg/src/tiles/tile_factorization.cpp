// SPDX-License-Identifier: Apache-2.0
#include <creek/linalg/tile_factorization.hpp>

#include <utility>

#include "blas3/level3.hpp"
#include "kernels/product.hpp"
#include "tile_elimination.hpp"
#include "tile_tasks.hpp"

namespace creek::linalg {

using namespace detail;

template <scalar T>
tile_factorization<T>::tile_factorization(task_graph& graph,
                                          std::shared_ptr<tile_elimination<T>> elimination)
    : elimination_(std::move(elimination)) {
  elimination_->factor(graph);
}

template <scalar T>
tile_factorization<T>::tile_factorization(std::shared_ptr<tile_elimination<T>> elimination)
    : elimination_(std::move(elimination)) {
  task_graph graph;
  elimination_->factor(graph);
  graph.wait();
}

template <scalar T>
index_t tile_factorization<T>::default_block(index_t rows, index_t cols) noexcept {
  return block_or_default(0, rows, cols);
}

template <scalar T>
index_t tile_factorization<T>::info() const noexcept {
  return zero_on_tile_diagonal<T>(factors());
}

template <scalar T>
const tile_matrix<T>& tile_factorization<T>::factors() const noexcept {
  return elimination_->tiles;
}

template <scalar T>
void tile_factorization<T>::apply(task_graph& graph, op how, matrix_view<T> B) const {
  elimination_->apply(graph, how, {B, factors().tile_size()});
}

/// The first min(m, n) columns of the tiles hold U, and the first min(m, n) rows of B become X:
/// X(k, j) = op(U(k, k))^-1 B(k, j), then B(i, j) -= op(U)(i, k) X(k, j) for all other rows i.
template <scalar T>
void tile_factorization<T>::solve_upper(task_graph& graph, op how, matrix_view<T> B) const {
  const const_tile_view<T> tiles = factors();
  const blocked_view<T> blocks{B, tiles.tile_size()};
  const index_t steps = std::min(tiles.tile_rows(), tiles.tile_cols());
  const bool forwards = how != op::none;
  for (index_t j = 0; j < blocks.col_blocks(); ++j) {
    for (index_t s = 0; s < steps; ++s) {
      const index_t k = forwards ? s : steps - 1 - s;
      const const_view<T> whole = tiles.tile(k, k);
      const index_t n = std::min(whole.rows(), whole.cols());
      const const_view<T> U = whole.block(0, 0, n, n);
      const matrix_view<T> X = blocks.block(k, j).block(0, 0, n, blocks.block(k, j).cols());
      const auto cols = static_cast<double>(X.cols());
      const auto order = static_cast<double>(n);
      graph.add({"trsm", flops_of<T>(order * order * cols / 2)}, {in_whole(U), inout_whole(X)},
                [owner = elimination_, how, U, X] {
                  trsm_by<this_thread, T>(side::left, triangle::upper, how, diagonal::stored, T{1},
                                          U, X);
                });
      for (index_t i = forwards ? k + 1 : 0; i < (forwards ? steps : k); ++i) {
        const const_view<T> across = forwards ? tiles.tile(k, i) : tiles.tile(i, k);
        const matrix_view<T> C = blocks.block(i, j);
        graph.add({"gemm", flops_of<T>(order * static_cast<double>(C.rows()) * cols)},
                  {in_whole(across), in_whole(X), inout_whole(C)},
                  [owner = elimination_, how, across, X, C] {
                    const const_view<T> a = across;
                    multiply_add_here(T{-1}, strided_of(a, how), strided_of<T>(X, op::none),
                                      X.rows(), C);
                  });
      }
    }
  }
}

#define CREEK_INSTANTIATE(letter, T) template class tile_factorization<T>;
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg

// SPDX-License-Identifier: Apache-2.0
#include <creek/linalg/tile_lu.hpp>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/shared_pack.hpp"
#include "lu_panel.hpp"
#include "pair_elimination.hpp"
#include "tiles/tile_elimination.hpp"
#include "tiles/tile_tasks.hpp"

namespace creek::linalg {
namespace detail {

/// W = P1^T L1 P2^T L2 ..., where each factor exchanges rows of two tiles and eliminates one.
template <scalar T>
class lu_elimination final : public tile_elimination<T>,
                             public std::enable_shared_from_this<lu_elimination<T>> {
 public:
  lu_elimination(tile_matrix<T> A, const tile_lu_options& options)
      : tile_elimination<T>("tile_lu", std::move(A), options.inner),
        records_(static_cast<std::size_t>(steps_ * steps_)) {
    require(tiles.rows() == tiles.cols(), "tile_lu", "A must be square");
  }

  void factor(task_graph& graph) override;
  /// Enqueues B = W^-1 B, or B = op(W^-1) B after the solve with op(U).
  void apply(task_graph& graph, op how, const blocked_view<T>& B) override {
    how == op::none ? add_forward(graph, B) : add_forward_turned(graph, how, B);
  }

 private:
  using tile_elimination<T>::tiles, tile_elimination<T>::tile, tile_elimination<T>::priority;
  using tile_elimination<T>::steps_, tile_elimination<T>::inner_;

  /// Elimination data of tile (i, k) besides the tile itself: the pivots, and for i > k the
  /// multipliers of rows that moved into tile (k, k). Packed for the columns further right.
  struct record {
    matrix<T> moved;
    std::vector<index_t> pivots;
    shared_pack<packed_block<T>> block;  // only for tile (k, k)
    shared_pack<packed_elimination<T>> pair;
  };
  record& at(index_t i, index_t k) { return records_[static_cast<std::size_t>(i + k * steps_)]; }
  double order(index_t k) const { return static_cast<double>(tile(k, k).rows()); }
  /// Returns the flops of an update of `cols` columns.
  double block_flops(index_t k, index_t cols) const {
    return flops_of<T>(order(k) * order(k) * static_cast<double>(cols) / 2);
  }
  double pair_flops(index_t i, index_t k, index_t cols) const {
    return flops_of<T>(order(k) * order(i) * static_cast<double>(cols));
  }

  void add_forward(task_graph& graph, const blocked_view<T>& B);
  void add_forward_turned(task_graph& graph, op how, const blocked_view<T>& B);
  void factor_diagonal(index_t k);
  void eliminate(index_t i, index_t k);
  void add_update(task_graph& graph, index_t k, index_t j, int priority);
  void add_update(task_graph& graph, index_t i, index_t k, index_t j, int priority);

  std::vector<record> records_;
};

template <scalar T>
void lu_elimination<T>::factor_diagonal(index_t k) {
  const matrix_view<T> A = tiles.tile(k, k);
  record& here = at(k, k);
  here.pivots.resize(static_cast<std::size_t>(A.rows()));
  factor_panel(A, here.pivots.data());
  here.block.make(steps_ - k - 1, A, here.pivots.data());
}

template <scalar T>
void lu_elimination<T>::eliminate(index_t i, index_t k) {
  const index_t n = tiles.tile(k, k).cols();
  const matrix_view<T> A = tiles.tile(i, k);
  record& here = at(i, k);
  here.moved = matrix<T>(std::min(inner_, n), n);
  here.pivots.resize(static_cast<std::size_t>(n));
  eliminate_pair(tiles.tile(k, k), A, here.moved.view(), here.pivots.data());
  here.pair.make(steps_ - k - 1, here.moved.view(), A, here.pivots.data());
}

/// Adds A(k, j) = L(k, k)^-1 P A(k, j). It needs only the lower triangle of the diagonal tile,
/// which does not change when the upper one eliminates tiles below: so the graph identifies it by
/// the address of its record, and neither task waits for the other.
template <scalar T>
void lu_elimination<T>::add_update(task_graph& graph, index_t k, index_t j, int priority) {
  const matrix_view<T> C = tiles.tile(k, j);
  graph.add({"gessm", block_flops(k, C.cols()), priority}, {in(&at(k, k)), inout_whole(C)},
            [self = this->shared_from_this(), k, C] {
              self->at(k, k).block.get().apply(C);
              self->at(k, k).block.release();
            });
}

template <scalar T>
void lu_elimination<T>::add_update(task_graph& graph, index_t i, index_t k, index_t j,
                                   int priority) {
  const matrix_view<T> C1 = tiles.tile(k, j), C2 = tiles.tile(i, j);
  graph.add({"ssssm", pair_flops(i, k, C1.cols()), priority},
            {in_whole(tile(i, k)), inout_whole(C1), inout_whole(C2)},
            [self = this->shared_from_this(), i, k, C1, C2] {
              self->at(i, k).pair.get().apply(C1, C2);
              self->at(i, k).pair.release();
            });
}

/// Step k:
///   A(k, k) = P L(k, k) U(k, k)                                              getrf
///   A(k, j) = L(k, k)^-1 P A(k, j)                          for j > k         gessm
///   [U(k, k); A(i, k)] = P L(i, k) U(k, k)                  for i > k         tstrf
///   [A(k, j); A(i, j)] = L(i, k)^-1 P [A(k, j); A(i, j)]    for i > k, j > k  ssssm
template <scalar T>
void lu_elimination<T>::factor(task_graph& graph) {
  for (index_t k = 0; k < steps_; ++k) {
    const int ahead = priority(k, true);
    const auto priority_of = [&](index_t j) { return priority(k, j == k + 1); };
    const const_view<T> diagonal = tile(k, k);
    const index_t n = diagonal.cols();
    graph.add({"getrf", block_flops(k, n) * 2 / 3, ahead}, {inout_whole(diagonal), out(&at(k, k))},
              [self = this->shared_from_this(), k] { self->factor_diagonal(k); });
    for (index_t j = k + 1; j < steps_; ++j) add_update(graph, k, j, priority_of(j));
    for (index_t i = k + 1; i < steps_; ++i) {
      graph.add({"tstrf", pair_flops(i, k, n) / 2, ahead},
                {inout_whole(diagonal), inout_whole(tile(i, k))},
                [self = this->shared_from_this(), i, k] { self->eliminate(i, k); });
      for (index_t j = k + 1; j < steps_; ++j) add_update(graph, i, k, j, priority_of(j));
    }
  }
}

template <scalar T>
void lu_elimination<T>::add_forward(task_graph& graph, const blocked_view<T>& B) {
  for (index_t j = 0; j < B.col_blocks(); ++j) {
    for (index_t k = 0; k < steps_; ++k) {
      const matrix_view<T> C1 = B.block(k, j);
      graph.add({"gessm", block_flops(k, C1.cols())}, {in(&at(k, k)), inout_whole(C1)},
                [self = this->shared_from_this(), k, C1] {
                  packed_block<T>(self->tile(k, k), self->at(k, k).pivots.data()).apply(C1);
                });
      for (index_t i = k + 1; i < steps_; ++i) {
        const matrix_view<T> C2 = B.block(i, j);
        graph.add({"ssssm", pair_flops(i, k, C1.cols())},
                  {in_whole(tile(i, k)), inout_whole(C1), inout_whole(C2)},
                  [self = this->shared_from_this(), i, k, C1, C2] {
                    const record& here = self->at(i, k);
                    packed_elimination<T>(here.moved.view(), self->tile(i, k), here.pivots.data())
                        .apply(C1, C2);
                  });
      }
    }
  }
}

template <scalar T>
void lu_elimination<T>::add_forward_turned(task_graph& graph, op how, const blocked_view<T>& B) {
  for (index_t j = 0; j < B.col_blocks(); ++j) {
    for (index_t k = steps_ - 1; k >= 0; --k) {
      const matrix_view<T> C1 = B.block(k, j);
      for (index_t i = steps_ - 1; i > k; --i) {
        const matrix_view<T> C2 = B.block(i, j);
        graph.add({"ssssm", pair_flops(i, k, C1.cols())},
                  {in_whole(tile(i, k)), inout_whole(C1), inout_whole(C2)},
                  [self = this->shared_from_this(), how, i, k, C1, C2] {
                    const record& here = self->at(i, k);
                    eliminate_pair_turned<T>(how, here.moved.view(), self->tile(i, k),
                                             here.pivots.data(), C1, C2);
                  });
      }
      graph.add({"gessm", block_flops(k, C1.cols())}, {in(&at(k, k)), inout_whole(C1)},
                [self = this->shared_from_this(), how, k, C1] {
                  eliminate_block_turned<T>(how, self->tile(k, k), self->at(k, k).pivots.data(),
                                            C1);
                });
    }
  }
}

}  // namespace detail

using namespace detail;

template <scalar T>
tile_lu<T>::tile_lu(task_graph& graph, tile_matrix<T> A, const tile_lu_options& options)
    : tile_factorization<T>(graph, std::make_shared<lu_elimination<T>>(std::move(A), options)) {}

template <scalar T>
tile_lu<T>::tile_lu(tile_matrix<T> A, const tile_lu_options& options)
    : tile_factorization<T>(std::make_shared<lu_elimination<T>>(std::move(A), options)) {}

template <scalar T>
tile_lu<T>::tile_lu(const_view<T> A, const tile_lu_options& options)
    : tile_lu(tile_matrix<T>(A, block_or_default(options.block, A.rows(), A.cols())), options) {}

template <scalar T>
void tile_lu<T>::solve(task_graph& graph, op how, matrix_view<T> B) const {
  require(B.rows() == this->factors().rows(), "tile_lu", "B must have as many rows as A");
  if (how == op::none) this->apply(graph, how, B);
  this->solve_upper(graph, how, B);
  if (how != op::none) this->apply(graph, how, B);
}

template <scalar T>
matrix<T> tile_lu<T>::solve(matrix<T> B, op how) const {
  task_graph graph;
  solve(graph, how, B.view());
  graph.wait();
  return B;
}

#define CREEK_INSTANTIATE(letter, T) template class tile_lu<T>;
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg

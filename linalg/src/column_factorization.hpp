// SPDX-License-Identifier: Apache-2.0
// Right-looking factorizations by blocks of columns: what LU, Cholesky and QR have in common. Step
// k factors the panel A(k:m, k), then updates A(k:m, j) by it for each j > k; indices count blocks.
#pragma once

#include <algorithm>
#include <memory>

#include <creek/linalg/matrix.hpp>

#include "graph/column_graph.hpp"
#include "tiles/tile_tasks.hpp"

namespace creek::linalg::detail {

/// An m x n matrix in blocks of `block` columns, and the info of its factorization.
template <scalar T>
class column_blocks {
 protected:
  column_blocks(matrix_view<T> A, index_t block)
      : A_(A), block_(block), steps_(std::min(A.rows(), A.cols())) {}

  /// Returns the number of blocks of columns; the first panels() of them become panels.
  index_t blocks() const noexcept { return (A_.cols() + block_ - 1) / block_; }
  index_t panels() const noexcept { return (steps_ + block_ - 1) / block_; }
  /// Returns the first row and column of block k, counted in elements.
  index_t first(index_t k) const noexcept { return k * block_; }
  /// Returns the number of columns that step k eliminates.
  index_t order(index_t k) const noexcept { return std::min(block_, steps_ - first(k)); }
  /// Returns A(i:m, j): block column j from block row i down.
  matrix_view<T> below(index_t i, index_t j) const {
    return A_.block(first(i), first(j), A_.rows() - first(i),
                    std::min(block_, A_.cols() - first(j)));
  }
  /// Records the info of panel k, 0 or a 1-based column of the panel. Panels end in order.
  void note(index_t k, index_t info) noexcept {
    if (info_ == 0 && info != 0) info_ = info + first(k);
  }

  matrix_view<T> A_;
  index_t block_;
  index_t steps_;     // columns that are eliminated: min(m, n)
  index_t info_ = 0;  // of the first panel that reported one
};

/// A factorization that updates whole blocks of columns. `Packed` is a factored panel in the form
/// in which it updates them.
template <scalar T, class Packed>
class column_factorization : protected column_blocks<T> {
 public:
  /// Runs the tasks, and records them in `report` unless it is nullptr. Returns info.
  index_t run(graph_report* report) {
    column_graph<Packed> graph(this->panels(), this->blocks(), report);
    graph.run([this](index_t k, index_t j) { return part(k, j); },
              [this](index_t k, index_t j) { return flops_of<T>(products(k, j)); },
              [this](index_t k) { return factor(k); },
              [this](const Packed& panel, index_t k, index_t j) { update(panel, k, j); });
    return this->info_;
  }

 protected:
  using column_blocks<T>::column_blocks;
  ~column_factorization() = default;

 private:
  /// Returns the part of block column j that step k and later ones change.
  virtual matrix_view<T> part(index_t k, index_t j) const { return this->below(k, j); }
  /// Returns the multiplications of panel k (j == k), or of its update of block column j.
  virtual double products(index_t k, index_t j) const = 0;
  /// Factors panel k. Returns nullptr to end the factorization.
  virtual std::unique_ptr<Packed> factor(index_t k) = 0;
  /// Updates block column j by panel k.
  virtual void update(const Packed& panel, index_t k, index_t j) const = 0;
};

}  // namespace creek::linalg::detail

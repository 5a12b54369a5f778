// SPDX-License-Identifier: Apache-2.0
// Base of the factorizations by tiles: tile_lu and tile_qr.
#pragma once

#include <memory>

#include <creek/linalg/matrix.hpp>
#include <creek/linalg/task_graph.hpp>
#include <creek/linalg/tile_matrix.hpp>

namespace creek::linalg {

namespace detail {
template <scalar T>
class tile_elimination;
}

/// A = W U, where W is a product of transformations of one or two tiles. Movable; the tasks share
/// ownership of the data, so the object may be destroyed before they end.
template <scalar T>
class tile_factorization {
 public:
  tile_factorization(tile_factorization&&) noexcept = default;
  tile_factorization& operator=(tile_factorization&&) noexcept = default;

  /// Returns the tile size used for a matrix of this shape if none is chosen.
  static index_t default_block(index_t rows, index_t cols) noexcept;

  /// Returns 0, or the 1-based index of the first exact zero on the diagonal of U, like getrf.
  index_t info() const noexcept;
  /// Returns U on and above the diagonal; below it are the parts of W, for the class alone.
  const tile_matrix<T>& factors() const noexcept;

 protected:
  /// Enqueues the tasks of the factorization, or runs them in a graph of its own.
  tile_factorization(task_graph& graph, std::shared_ptr<detail::tile_elimination<T>> elimination);
  explicit tile_factorization(std::shared_ptr<detail::tile_elimination<T>> elimination);

  /// Enqueues B = op(W) B.
  void apply(task_graph& graph, op how, matrix_view<T> B) const;
  /// Enqueues B = op(U)^-1 B.
  void solve_upper(task_graph& graph, op how, matrix_view<T> B) const;

  std::shared_ptr<detail::tile_elimination<T>> elimination_;
};

}  // namespace creek::linalg

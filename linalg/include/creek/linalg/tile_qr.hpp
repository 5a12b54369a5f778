// SPDX-License-Identifier: Apache-2.0
// QR factorization by tiles, and least squares.
//
// Threads and errors as in blas3.hpp.
#pragma once

#include <memory>

#include <creek/linalg/matrix.hpp>
#include <creek/linalg/task_graph.hpp>
#include <creek/linalg/tile_matrix.hpp>

namespace creek::linalg {

namespace detail {
template <scalar T>
class tile_qr_state;
}

/// In which order the tiles of a column of tiles are eliminated.
enum class reduction_tree {
  flat,   ///< one after the other, each by the tile on the diagonal: fewest flops in small tasks
  binary  ///< in pairs, then pairs of pairs: for matrices of many more rows than columns
};

struct tile_qr_options {
  /// Order of a tile, for matrices that are given by columns; 0 chooses by the size.
  index_t block = 0;
  /// Reflectors that are applied at once; 0 stands for 48. More make the products larger, and add
  /// inner / (4 block) to the flops.
  index_t inner = 0;
  reduction_tree tree = reduction_tree::flat;
  /// With a binary tree: rows of tiles that form a domain. Within it the tree is flat, and the
  /// binary one is that of the domains.
  index_t domain = 1;
};

/// A = Q R by tiles, for A of m x n, m >= n or m < n: 2 n^2 (m - n/3) flops and the extra of
/// `inner`. Tiles are eliminated one by one by another of their column, so that no task needs more
/// than two tiles, and a step's tasks begin before the one before has ended. Q is kept as the
/// transformations it was made of: besides the tiles that takes inner x block elements for a tile
/// on and below the diagonal, with a binary tree up to twice that. While the tasks run, such tiles
/// are also kept packed, two copies, until all updates by them are made.
///
/// Sources:
/// [Buttari 2009] for QR by tasks on tiles;
/// [Hadri 2010] for the elimination of a panel along a tree.
template <scalar T>
class tile_qr {
 public:
  explicit tile_qr(tile_matrix<T> A, const tile_qr_options& options = {});
  /// Copies A into tiles first.
  explicit tile_qr(const_view<T> A, const tile_qr_options& options = {});
  /// Enqueues the tasks of the factorization. What it is is known when graph.wait() has returned.
  /// The tasks keep what they need, should the object go before, by an exception, say.
  tile_qr(task_graph& graph, tile_matrix<T> A, const tile_qr_options& options = {});
  tile_qr(tile_qr&&) noexcept;
  tile_qr& operator=(tile_qr&&) noexcept;
  ~tile_qr();

  /// The tile size for a matrix of this shape, unless one is chosen.
  static index_t default_block(index_t rows, index_t cols) noexcept;

  /// 0, or the place (from 1) of the first exact zero on the diagonal of R.
  index_t info() const noexcept;
  /// R on and above the diagonal; below it what makes Q, for this class alone.
  const tile_matrix<T>& factors() const noexcept;
  /// R alone, min(m, n) x n.
  matrix<T> r() const;
  /// The first min(m, n) columns of Q.
  matrix<T> form_q() const;

  /// B = op(Q) B for B of m rows; how is none or conjugate_transpose (for real T: or transpose).
  void apply_q(op how, matrix_view<T> B) const;
  /// Enqueues it. Tasks of this graph know the blocks of B, each of the order of a tile, by the
  /// address of their first element.
  void apply_q(task_graph& graph, op how, matrix_view<T> B) const;

  /// The X that makes the norm of A X - B least. Throws usage_error for A with more columns than
  /// rows. Infinite or NaN where info() is not 0.
  matrix<T> solve(matrix<T> B) const;
  /// Enqueues it: the first n rows of B become X, and below it is left over what qr::project leaves
  /// there: the sum of its squares is that of the residual.
  void solve(task_graph& graph, matrix_view<T> B) const;

 private:
  std::shared_ptr<detail::tile_qr_state<T>> state_;  // tasks share it
};

}  // namespace creek::linalg

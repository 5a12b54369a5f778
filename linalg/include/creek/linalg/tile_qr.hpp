// SPDX-License-Identifier: Apache-2.0
// QR factorization by tiles, and least squares.
//
// Threads and errors as in blas3.hpp.
#pragma once

#include <creek/linalg/tile_factorization.hpp>

namespace creek::linalg {

/// Order in which the tiles of a column of tiles are eliminated.
enum class reduction_tree {
  flat,   ///< one after the other, each by the tile on the diagonal: fewest flops in small tasks
  binary  ///< in pairs, then pairs of pairs: for matrices of many more rows than columns
};

struct tile_qr_options {
  /// Order of a tile, for matrices in column-major layout; 0 chooses by the size.
  index_t block = 0;
  /// Reflectors that are applied at once; 0 means 48. A larger value makes the products larger, and
  /// adds inner / (4 block) to the flops.
  index_t inner = 0;
  reduction_tree tree = reduction_tree::flat;
  /// Rows of tiles per domain, for a binary tree. Within a domain the tree is flat; the binary tree
  /// joins the domains.
  index_t domain = 1;
};

/// A = Q R by tiles, A is m x n, m >= n or m < n: 2 n^2 (m - n/3) flops plus the share of `inner`.
/// Each tile is eliminated by another tile of its column, so that no task needs more than two
/// tiles, and the tasks of a step begin before the previous step has ended. Q is kept as its
/// transformations: besides the tiles they take inner x block elements per tile on and below the
/// diagonal, with a binary tree up to twice that. While the tasks run, such tiles are also kept
/// packed, in two copies, until all updates by them are done.
///
/// Sources:
/// [Buttari 2009] for QR by tasks on tiles;
/// [Hadri 2010] for the elimination of a panel along a tree.
template <scalar T>
class tile_qr : public tile_factorization<T> {
 public:
  explicit tile_qr(tile_matrix<T> A, const tile_qr_options& options = {});
  /// Copies A into tiles, then factors them.
  explicit tile_qr(const_view<T> A, const tile_qr_options& options = {});
  /// Enqueues the tasks of the factorization; its result is valid once graph.wait() has returned.
  tile_qr(task_graph& graph, tile_matrix<T> A, const tile_qr_options& options = {});

  /// Returns R alone, min(m, n) x n.
  matrix<T> r() const;
  /// Returns the first min(m, n) columns of Q.
  matrix<T> form_q() const;

  /// B = op(Q) B, B has m rows; how is none or conjugate_transpose (for real T also transpose).
  void apply_q(op how, matrix_view<T> B) const;
  /// Enqueues the same. Tasks of this graph identify the blocks of B, each as high and wide as a
  /// tile, by the address of their first element.
  void apply_q(task_graph& graph, op how, matrix_view<T> B) const;

  /// Returns the X that minimizes the norm of A X - B. Throws usage_error if A has more columns
  /// than rows. Infinite or NaN if info() is not 0.
  matrix<T> solve(matrix<T> B) const;
  /// Enqueues the same: the first n rows of B become X; the sum of squares of the rows below is
  /// that of the residual, as for qr::project.
  void solve(task_graph& graph, matrix_view<T> B) const;
};

}  // namespace creek::linalg

// SPDX-License-Identifier: Apache-2.0
// LU factorization by tiles, with incremental pivoting.
//
// Threads and errors as in blas3.hpp.
#pragma once

#include <creek/linalg/tile_factorization.hpp>

namespace creek::linalg {

struct tile_lu_options {
  /// Order of a tile, for matrices in column-major layout; 0 chooses by the size.
  index_t block = 0;
  /// Columns of a tile that are eliminated at once; 0 means 48. A larger value makes the products
  /// larger, and adds inner / (2 block) to the flops.
  index_t inner = 0;
};

/// LU of a square A by tiles, 2/3 n^3 flops plus the share of `inner`. Rows are exchanged only
/// between the diagonal tile and one tile below it at a time, so that no task needs more than two
/// tiles, and the tasks of a step begin before the previous step has ended. The price is a less
/// stable elimination than with partial pivoting: elements may grow more, in practice by a factor
/// that increases with the number of tiles. Besides the tiles it keeps, per tile below the
/// diagonal, inner x block elements and `block` pivots: inner / (2 block) of the matrix. While the
/// tasks run, eliminated tiles are also kept packed until all updates by them are done.
/// Sources:
/// [Quintana-Orti 2008] for LU with incremental pivoting;
/// [Buttari 2009] for its tasks on tiles.
template <scalar T>
class tile_lu : public tile_factorization<T> {
 public:
  /// Factors A. Throws usage_error unless A is square.
  explicit tile_lu(tile_matrix<T> A, const tile_lu_options& options = {});
  /// Copies A into tiles, then factors them.
  explicit tile_lu(const_view<T> A, const tile_lu_options& options = {});
  /// Enqueues the tasks of the factorization; its result is valid once graph.wait() has returned.
  tile_lu(task_graph& graph, tile_matrix<T> A, const tile_lu_options& options = {});

  /// Returns the X of op(A) X = B. Infinite or NaN if info() is not 0.
  matrix<T> solve(matrix<T> B, op how = op::none) const;
  /// Enqueues the solve: B becomes X. Tasks of this graph identify the blocks of B, each as high
  /// and wide as a tile, by the address of their first element.
  void solve(task_graph& graph, op how, matrix_view<T> B) const;
};

}  // namespace creek::linalg

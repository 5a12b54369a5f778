// SPDX-License-Identifier: Apache-2.0
// LU factorization by tiles, with incremental pivoting.
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
class tile_lu_state;
}

struct tile_lu_options {
  /// Order of a tile, for matrices that are given by columns; 0 chooses by the size.
  index_t block = 0;
  /// Columns of a tile that are eliminated at once; 0 stands for 48. More make the products larger,
  /// and add inner / (2 block) to the flops.
  index_t inner = 0;
};

/// LU of a square A by tiles, 2/3 n^3 flops and the extra of `inner`. A row is exchanged with one
/// of the tile on the diagonal and of one tile below it at a time, so that no task needs more than
/// two tiles, and a step's tasks begin before the one before has ended. The price is a less stable
/// elimination than by partial pivoting: its elements may grow more, in practice by a factor that
/// increases with the number of tiles. Besides the tiles it keeps, for every tile below the
/// diagonal, inner x block elements and `block` pivots: inner / (2 block) of the matrix. While
/// the tasks run, eliminated tiles are also kept packed until all updates by them are made.
/// Sources:
/// [Quintana-Orti 2008] for LU with incremental pivoting;
/// [Buttari 2009] for its tasks on tiles.
template <scalar T>
class tile_lu {
 public:
  /// Factors A. Throws usage_error unless A is square.
  explicit tile_lu(tile_matrix<T> A, const tile_lu_options& options = {});
  /// Copies A into tiles first.
  explicit tile_lu(const_view<T> A, const tile_lu_options& options = {});
  /// Enqueues the tasks of the factorization. What it is is known when graph.wait() has returned.
  /// The tasks keep what they need, should the object go before, by an exception, say.
  tile_lu(task_graph& graph, tile_matrix<T> A, const tile_lu_options& options = {});
  tile_lu(tile_lu&&) noexcept;
  tile_lu& operator=(tile_lu&&) noexcept;
  ~tile_lu();

  /// The tile size for a matrix of order n, unless one is chosen.
  static index_t default_block(index_t n) noexcept;

  /// 0, or the place (from 1) of the first exact zero on the diagonal of U, as getrf.
  index_t info() const noexcept;
  /// U on and above the diagonal; below it what elimination left there, for this class alone.
  const tile_matrix<T>& factors() const noexcept;

  /// The X of op(A) X = B. Infinite or NaN where info() is not 0.
  matrix<T> solve(matrix<T> B, op how = op::none) const;
  /// Enqueues it: B becomes X. Tasks of this graph know the blocks of B, each of the order of a
  /// tile, by the address of their first element.
  void solve(task_graph& graph, op how, matrix_view<T> B) const;

 private:
  std::shared_ptr<detail::tile_lu_state<T>> state_;  // tasks share it
};

}  // namespace creek::linalg

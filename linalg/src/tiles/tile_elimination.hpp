// SPDX-License-Identifier: Apache-2.0
// Shared parts of the factorizations by tiles: the tiles, the order of their elimination, and
// right-hand sides in blocks that match the tiles.
#pragma once

#include <algorithm>
#include <utility>

#include <creek/linalg/task_graph.hpp>
#include <creek/linalg/tile_factorization.hpp>

#include "checks.hpp"
#include "graph/moved_block.hpp"

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

/// Returns the chosen tile size, or one by the size of the matrix. Larger than that of products:
/// two tiles at a time are eliminated by groups of columns, at a cost that falls with their size.
inline index_t block_or_default(index_t block, index_t rows, index_t cols) noexcept {
  const index_t n = std::min(rows, cols);
  return block != 0 ? block : n <= 600 ? 144 : n <= 1500 ? 192 : 336;
}

/// Matrix of tiles whose tiles below the diagonal are eliminated step by step; step k eliminates
/// column k of tiles. Owned by the factorization and by its tasks.
template <scalar T>
class tile_elimination {
 public:
  /// `inner` columns of a tile are eliminated at once; 0 means 48.
  tile_elimination(const char* routine, tile_matrix<T> A, index_t inner)
      : tiles(std::move(A)),
        steps_(std::min(tiles.tile_rows(), tiles.tile_cols())),
        inner_(inner == 0 ? default_inner : inner) {
    require(inner >= 0, routine, "inner must not be negative");
  }
  tile_elimination(const tile_elimination&) = delete;
  tile_elimination& operator=(const tile_elimination&) = delete;
  virtual ~tile_elimination() = default;

  /// Enqueues A = W U.
  virtual void factor(task_graph& graph) = 0;
  /// Enqueues B = op(W) B.
  virtual void apply(task_graph& graph, op how, const blocked_view<T>& B) = 0;

  tile_matrix<T> tiles;

 protected:
  const_view<T> tile(index_t i, index_t k) const { return tiles.tile(i, k); }
  /// Earlier steps go first; panels and the columns of the next panel go before everything.
  int priority(index_t k, bool ahead) const noexcept {
    return static_cast<int>(std::min<index_t>(steps_ - k, 1 << 24)) + (ahead ? 1 << 25 : 0);
  }

  index_t steps_;
  index_t inner_;

 private:
  /// Multiple of the rows of all micro-kernels, so that packed strips are full.
  static constexpr index_t default_inner = 48;
};

}  // namespace creek::linalg::detail

// SPDX-License-Identifier: Apache-2.0
// Matrix in a two-dimensional block-cyclic layout over a grid of processes: the layout of
// ScaLAPACK's descriptors, used in place. Source: [Blackford 1997].
#pragma once

#include <algorithm>
#include <string>

#include <creek/core/error.hpp>
#include <creek/linalg/matrix.hpp>

namespace creek::linalg {

/// Grid of processes, and this process's place in it. In a communicator the process at (p, q) has
/// the rank p * cols + q.
struct process_grid {
  int rows = 1, cols = 1;
  int row = 0, col = 0;

  /// Returns the place of a rank in a grid of that shape. The routines refuse a grid that has not
  /// exactly one place for each rank.
  static process_grid of(int rows, int cols, int rank) noexcept {
    if (cols < 1) return {rows, cols, 0, 0};
    return {rows, cols, rank / cols, rank % cols};
  }
  int rank_at(int p, int q) const noexcept { return p * cols + q; }
};

/// One dimension of the layout: blocks of `block` indices go to the processes in turns, the first
/// to process `source`.
struct cyclic_axis {
  index_t size = 0, block = 1;
  int source = 0, processes = 1, here = 0;

  index_t blocks() const noexcept { return (size + block - 1) / block; }
  int owner(index_t global) const noexcept {
    return static_cast<int>((global / block + source) % processes);
  }
  bool owns(index_t global) const noexcept { return owner(global) == here; }
  /// Returns how many of the indices before `global` process p has (ScaLAPACK's numroc); that is
  /// the local index of `global` if p owns it, or of the next index that it owns.
  index_t before(index_t global, int p) const noexcept {
    const index_t distance = (p - source + processes) % processes;
    const index_t whole = global / block;
    const index_t extra = whole % processes;
    const index_t mine = whole / processes * block;
    if (distance < extra) return mine + block;
    return distance == extra ? mine + global % block : mine;
  }
  index_t before(index_t global) const noexcept { return before(global, here); }
  index_t local_size() const noexcept { return before(size); }
  /// Returns the index of the matrix that a local index is.
  index_t global(index_t local) const noexcept {
    const index_t turn = (here - source + processes) % processes;
    return (local / block * processes + turn) * block + local % block;
  }
};

/// View of a process's part of a matrix: its local array, column-major. Copied like a pointer.
template <class T>
class grid_view {
 public:
  /// Throws usage_error unless sizes are >= 0, blocks >= 1, sources and places within the grid, and
  /// `leading` no smaller than the local rows.
  grid_view(const process_grid& grid, index_t rows, index_t cols, index_t row_block,
            index_t col_block, T* data, index_t leading, int row_source = 0, int col_source = 0)
      : grid_(grid),
        rows_{rows, row_block, row_source, grid.rows, grid.row},
        cols_{cols, col_block, col_source, grid.cols, grid.col},
        data_(data),
        leading_(leading) {
    const auto inside = [](int at, int of) { return at >= 0 && at < of; };
    if (rows < 0 || cols < 0 || row_block < 1 || col_block < 1 || !inside(grid.row, grid.rows) ||
        !inside(grid.col, grid.cols) || !inside(row_source, grid.rows) ||
        !inside(col_source, grid.cols) || leading < std::max<index_t>(1, rows_.local_size())) {
      throw usage_error("grid_view: " + std::to_string(rows) + " x " + std::to_string(cols) +
                        " in blocks of " + std::to_string(row_block) + " x " +
                        std::to_string(col_block) + ", leading dimension " +
                        std::to_string(leading) + ", is no part of a matrix on this grid");
    }
  }

  const process_grid& grid() const noexcept { return grid_; }
  const cyclic_axis& rows() const noexcept { return rows_; }
  const cyclic_axis& cols() const noexcept { return cols_; }

  /// Returns the local part of the rows [i, i_end) and columns [j, j_end) of the matrix.
  matrix_view<T> local(index_t i, index_t i_end, index_t j, index_t j_end) const noexcept {
    const index_t top = rows_.before(i), left = cols_.before(j);
    return {data_ + top + left * leading_, rows_.before(i_end) - top, cols_.before(j_end) - left,
            leading_};
  }
  matrix_view<T> local() const noexcept { return local(0, rows_.size, 0, cols_.size); }

 private:
  process_grid grid_;
  cyclic_axis rows_, cols_;
  T* data_;
  index_t leading_;
};

}  // namespace creek::linalg

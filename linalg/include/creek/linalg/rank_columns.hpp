// SPDX-License-Identifier: Apache-2.0
// Matrix whose columns are distributed over the memories of a communicator's ranks, and functions
// that scatter and gather it.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/linalg/matrix.hpp>

namespace creek::linalg {

/// One rank's part of an m x n matrix that is cut into blocks of columns: rank j % P owns all of
/// block j (P ranks). Column-major; a rank's blocks lie side by side.
///
/// Blocks are whole columns, not rectangles, so that a panel is in one memory: the search for a
/// pivot, or the norm of a reflector, costs no message; a message takes as long as thousands of
/// flops.
template <scalar T>
class rank_columns {
 public:
  rank_columns() = default;
  /// Elements are zero at first. Throws usage_error unless m, n >= 0, block >= 1 and 0 <= rank <
  /// ranks; throws std::bad_alloc.
  rank_columns(index_t rows, index_t cols, index_t block, int rank, int ranks)
      : rows_(rows), cols_(cols), block_(block), rank_(rank), ranks_(ranks) {
    if (rows < 0 || cols < 0 || block < 1 || rank < 0 || rank >= ranks) {
      throw usage_error("rank_columns: " + std::to_string(rows) + " x " + std::to_string(cols) +
                        " by " + std::to_string(block) + " at rank " + std::to_string(rank) +
                        " of " + std::to_string(ranks) + " is no part of a matrix");
    }
    local_ = matrix<T>(rows, columns_before(blocks()));
  }

  index_t rows() const noexcept { return rows_; }
  index_t cols() const noexcept { return cols_; }
  index_t block_width() const noexcept { return block_; }
  index_t blocks() const noexcept { return blocks_over(cols_); }
  /// Returns the number of blocks that the first `columns` columns take; the last may be narrower.
  index_t blocks_over(index_t columns) const noexcept {
    return columns / block_ + (columns % block_ != 0 ? 1 : 0);
  }
  int rank() const noexcept { return rank_; }
  int ranks() const noexcept { return ranks_; }

  /// Returns the rank that owns block j.
  int owner(index_t j) const noexcept { return static_cast<int>(j % ranks_); }
  bool owns(index_t j) const noexcept { return owner(j) == rank_; }
  index_t first_column(index_t j) const noexcept { return j * block_; }
  index_t width(index_t j) const noexcept { return std::min(block_, cols_ - first_column(j)); }
  /// Returns this rank's first block that is >= j; beyond blocks() if there is none.
  index_t own_from(index_t j) const noexcept { return j + (rank_ - owner(j) + ranks_) % ranks_; }

  /// Returns the whole columns of block j, which this rank must own.
  matrix_view<T> columns(index_t j) noexcept {
    return local_.view().columns(j / ranks_ * block_, width(j));
  }
  const_view<T> columns(index_t j) const noexcept {
    return local_.view().columns(j / ranks_ * block_, width(j));
  }
  /// Returns the number of this rank's columns in blocks from j on.
  index_t own_columns_from(index_t j) const noexcept { return local_.cols() - columns_before(j); }

  /// Copies this rank's part from a matrix that the rank can read, without messages.
  void take_from(const_view<T> whole) {
    for (index_t j = own_from(0); j < blocks(); j += ranks_) {
      copy<T>(whole.columns(first_column(j), width(j)), columns(j));
    }
  }

 private:
  /// Returns the number of this rank's columns in blocks before j.
  index_t columns_before(index_t j) const noexcept {
    const index_t own = (j + ranks_ - 1 - rank_) / ranks_;
    const index_t whole = own * block_;
    const bool last_is_mine = j == blocks() && j > 0 && owner(j - 1) == rank_;
    return last_is_mine ? whole - (block_ - width(j - 1)) : whole;
  }

  index_t rows_ = 0;
  index_t cols_ = 0;
  index_t block_ = 1;
  int rank_ = 0;
  int ranks_ = 1;
  matrix<T> local_;
};

namespace detail {

/// Copies the columns of a view into one array without gaps, as the contents of a message.
template <scalar T>
std::vector<T> side_by_side(const_view<T> A) {
  std::vector<T> all(static_cast<std::size_t>(A.rows() * A.cols()));
  if (!A.empty()) copy<T>(A, matrix_view<T>(all.data(), A.rows(), A.cols(), A.rows()));
  return all;
}
template <scalar T>
void spread_out(std::vector<T>& all, matrix_view<T> A) {
  if (!A.empty()) copy<T>(matrix_view<T>(all.data(), A.rows(), A.cols(), A.rows()), A);
}

}  // namespace detail

/// Sends each rank its part of the matrix that rank 0 has; other ranks ignore `whole`. All ranks
/// call it with equal sizes. Throws usage_error on all ranks if the sizes are invalid, and on rank
/// 0, before anything is sent, if `whole` has another shape: then the program has to end.
template <scalar T, class Communicator>
rank_columns<T> scatter_columns(Communicator& ranks, const_view<T> whole, index_t rows,
                                index_t cols, index_t block) {
  rank_columns<T> mine(rows, cols, block, ranks.rank(), ranks.size());
  if (ranks.rank() != 0) {
    for (index_t j = mine.own_from(0); j < mine.blocks(); j += ranks.size()) {
      std::vector<T> piece(static_cast<std::size_t>(rows * mine.width(j)));
      ranks.recv(std::span<T>{piece}, 0);
      detail::spread_out<T>(piece, mine.columns(j));
    }
    return mine;
  }
  if (whole.rows() != rows || whole.cols() != cols) {
    throw usage_error("scatter_columns: the matrix of rank 0 must be " + std::to_string(rows) +
                      " x " + std::to_string(cols));
  }
  mine.take_from(whole);
  for (index_t j = 0; j < mine.blocks(); ++j) {
    if (mine.owns(j)) continue;
    const std::vector<T> piece =
        detail::side_by_side<T>(whole.columns(mine.first_column(j), mine.width(j)));
    ranks.send(std::span<const T>{piece}, mine.owner(j));
  }
  return mine;
}

/// Returns the whole matrix at rank 0, an empty one elsewhere. All ranks call it.
template <scalar T, class Communicator>
matrix<T> gather_columns(Communicator& ranks, const rank_columns<T>& mine) {
  if (ranks.rank() != 0) {
    for (index_t j = mine.own_from(0); j < mine.blocks(); j += ranks.size()) {
      const std::vector<T> piece = detail::side_by_side<T>(mine.columns(j));
      ranks.send(std::span<const T>{piece}, 0);
    }
    return {};
  }
  matrix<T> whole(mine.rows(), mine.cols());
  for (index_t j = 0; j < mine.blocks(); ++j) {
    const matrix_view<T> to = whole.view().columns(mine.first_column(j), mine.width(j));
    if (mine.owns(j)) {
      copy<T>(mine.columns(j), to);
      continue;
    }
    std::vector<T> piece(static_cast<std::size_t>(mine.rows() * mine.width(j)));
    ranks.recv(std::span<T>{piece}, mine.owner(j));
    detail::spread_out<T>(piece, to);
  }
  return whole;
}

}  // namespace creek::linalg

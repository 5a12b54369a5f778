// SPDX-License-Identifier: Apache-2.0
// LU with partial pivoting of a panel whose rows are at the processes of a column of the grid, by
// halves [Toledo 1997]. The pivot rows so far are at every process (`top`): a column costs one
// reduction and one broadcast, which carry the search, the exchange and the pivot row.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <creek/linalg/blas3.hpp>
#include <creek/linalg/detail/grid_line.hpp>

namespace creek::linalg::detail {

template <class Communicator, scalar T>
class grid_lu_panel {
 public:
  /// `A`: local rows of the panel from row `first` of the matrix on. `top`: order x order.
  grid_lu_panel(grid_line<Communicator>& column, const cyclic_axis& rows, index_t first,
                matrix_view<T> A, matrix_view<T> top, index_t* pivots)
      : column_(&column),
        rows_(rows),
        first_(first),
        A_(A),
        top_(top),
        pivots_(pivots),
        root_(rows.owner(first)),
        width_(static_cast<std::size_t>(A.cols())),
        best_(sizeof(head) + 2 * width_ * sizeof(T)),
        other_(best_.size()) {}

  /// Returns info, counted from the panel's first column; pivots count rows of the matrix.
  index_t run() {
    factor(0, top_.rows());
    if (is_root()) {
      copy<T>(top_, A_.block(0, 0, top_.rows(), top_.cols()));
    }
    return info_;
  }

 private:
  struct head {
    real<T> magnitude;
    index_t row;
  };
  static constexpr index_t narrow = 8;

  bool is_root() const noexcept { return column_->rank() == root_; }
  /// Local rows below row j of the panel.
  index_t active(index_t j) const noexcept { return is_root() ? j : 0; }

  void factor(index_t from, index_t to) {
    if (to - from <= narrow) {
      for (index_t j = from; j < to; ++j) eliminate(j, to);
      return;
    }
    const index_t middle = from + (to - from) / 2;
    factor(from, middle);
    const index_t k = middle - from, n = to - middle;
    trsm<T>(side::left, triangle::lower, op::none, diagonal::unit, T{1},
            top_.block(from, from, k, k), top_.block(from, middle, k, n));
    const index_t at = active(middle), m = A_.rows() - at;
    if (m > 0) {
      gemm<T>(op::none, op::none, T{-1}, A_.block(at, from, m, k), top_.block(from, middle, k, n),
              T{1}, A_.block(at, middle, m, n));
    }
    factor(middle, to);
  }

  static real<T> magnitude(T x) noexcept {
    if constexpr (is_complex<T>) return std::abs(x.real()) + std::abs(x.imag());
    return std::abs(x);
  }
  /// NaN exceeds all; of equals the upper row is taken.
  static bool exceeds(const head& a, const head& b) noexcept {
    if (std::isnan(b.magnitude)) return std::isnan(a.magnitude) && a.row < b.row;
    if (std::isnan(a.magnitude) || a.magnitude > b.magnitude) return true;
    return a.magnitude == b.magnitude && a.row < b.row;
  }

  void eliminate(index_t j, index_t to) {
    find(j);
    head found;
    std::memcpy(&found, best_.data(), sizeof found);
    pivots_[j] = found.row;
    const T* const row = row_in(best_, 0);
    for (index_t c = 0; c < top_.cols(); ++c) top_(j, c) = row[c];
    if (rows_.owns(found.row) && found.row != first_ + j) {
      const index_t at = rows_.before(found.row) - rows_.before(first_);
      const T* const replaced = row_in(best_, 1);
      for (index_t c = 0; c < A_.cols(); ++c) A_(at, c) = replaced[c];
    }
    const T pivot = top_(j, j);
    if (pivot == T{}) {
      if (info_ == 0) info_ = j + 1;
      return;
    }
    const index_t at = active(j + 1), m = A_.rows() - at;
    T* const column = A_.column(j) + at;
    if (std::abs(pivot) >= std::numeric_limits<real<T>>::min()) {
      const T inverse = T{1} / pivot;
      for (index_t i = 0; i < m; ++i) column[i] *= inverse;
    } else {
      for (index_t i = 0; i < m; ++i) column[i] /= pivot;
    }
    for (index_t c = j + 1; c < to; ++c) {
      const T factor = top_(j, c);
      T* const y = A_.column(c) + at;
      for (index_t i = 0; i < m; ++i) y[i] -= column[i] * factor;
    }
  }

  /// Leaves the pivot row of column j in best_, and after it the row that goes to its place.
  void find(index_t j) {
    head mine{real<T>(-1), first_ + rows_.size};
    index_t at = -1;
    for (index_t i = active(j); i < A_.rows(); ++i) {
      const real<T> here = magnitude(A_(i, j));
      if (here <= mine.magnitude) continue;
      mine.magnitude = here;
      at = i;
      if (std::isnan(here)) break;
    }
    if (at >= 0) mine.row = rows_.global(rows_.before(first_) + at);
    std::memcpy(best_.data(), &mine, sizeof mine);
    for (index_t c = 0; at >= 0 && c < A_.cols(); ++c) row_in(best_, 0)[c] = A_(at, c);
    reduce();
    for (index_t c = 0; is_root() && c < A_.cols(); ++c) row_in(best_, 1)[c] = A_(j, c);
    column_->bcast(std::span<std::byte>(best_), root_);
  }
  /// Returns row 0 or 1 after the head.
  T* row_in(std::vector<std::byte>& message, std::size_t i) const noexcept {
    return reinterpret_cast<T*>(message.data() + sizeof(head)) + i * width_;
  }
  /// Brings the best candidate to the root, along a binomial tree.
  void reduce() {
    const int size = column_->size(), me = (column_->rank() - root_ + size) % size;
    for (int step = 1; step < size; step *= 2) {
      if ((me & step) != 0) {
        column_->send(std::span<const std::byte>(best_).first(size_of_candidate()),
                      (me - step + root_) % size);
        return;
      }
      if (me + step >= size) continue;
      column_->recv(std::span<std::byte>(other_).first(size_of_candidate()),
                    (me + step + root_) % size);
      head a, b;
      std::memcpy(&a, other_.data(), sizeof a);
      std::memcpy(&b, best_.data(), sizeof b);
      if (exceeds(a, b)) best_.swap(other_);
    }
  }

  std::size_t size_of_candidate() const noexcept { return sizeof(head) + width_ * sizeof(T); }

  grid_line<Communicator>* column_;
  cyclic_axis rows_;
  index_t first_;
  matrix_view<T> A_, top_;
  index_t* pivots_;
  int root_;
  std::size_t width_;
  std::vector<std::byte> best_, other_;
  index_t info_ = 0;
};

}  // namespace creek::linalg::detail

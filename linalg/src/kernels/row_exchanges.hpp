// SPDX-License-Identifier: Apache-2.0
// Row exchanges of partial pivoting, all applied at once.
#pragma once

#include <algorithm>
#include <vector>

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// Combined effect of exchanging row i with row pivots[i] - first >= i, for i upwards from 0 to
/// order().
class row_exchanges {
 public:
  /// Combines the exchanges for matrices with `rows` rows. The pivots count rows from the matrix
  /// whose row `first` is row 0 here.
  row_exchanges(const index_t* pivots, index_t order, index_t rows, index_t first = 0);

  index_t order() const noexcept { return static_cast<index_t>(sources_.size()); }
  /// Returns the number of elements of scratch memory that the functions below need.
  index_t scratch() const noexcept { return order() + static_cast<index_t>(lower_.size()); }

  /// Processes one column: the rows from order() on get their values; the first order() do not,
  /// but row(i, scratch) returns their new values. `next` is the column that follows.
  template <scalar T>
  void begin(T* column, const T* next, T* scratch) const noexcept {
    constexpr index_t line = 64 / static_cast<index_t>(sizeof(T));
    for (index_t i = 0; i < order(); i += line) __builtin_prefetch(next + i, 1);
    begin(column, column + order(), next + order(), scratch);
  }
  /// Same for rows from order() on that are stored elsewhere, at `lower`.
  template <scalar T>
  void begin(const T* upper, T* lower, const T* next_lower, T* scratch) const noexcept {
    std::copy_n(upper, order(), scratch);
    T* saved = scratch + order();
    for (const lower_row& each : lower_) {
      __builtin_prefetch(next_lower + each.row, 1);
      *saved++ = lower[each.row];
      lower[each.row] = scratch[each.from];
    }
  }
  template <scalar T>
  T row(index_t i, const T* scratch) const noexcept {
    return scratch[sources_[static_cast<std::size_t>(i)]];
  }

  template <scalar T>
  void apply(matrix_view<T> A) const {
    std::vector<T> memory(static_cast<std::size_t>(scratch()));
    for (index_t j = 0; j < A.cols(); ++j) {
      T* const column = A.column(j);
      begin(column, A.column(std::min(j + 1, A.cols() - 1)), memory.data());
      for (index_t i = 0; i < order(); ++i) column[i] = row(i, memory.data());
    }
  }

 private:
  /// Row from order() on, counted from there, and the upper row whose value it gets.
  struct lower_row {
    index_t row, from;
  };
  std::vector<index_t> sources_;  // positions in the scratch memory
  std::vector<lower_row> lower_;  // sorted by row, for sequential access
};

}  // namespace creek::linalg::detail

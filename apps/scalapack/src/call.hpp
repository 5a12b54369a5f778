// SPDX-License-Identifier: Apache-2.0
// One call of a routine: its matrices as views, and whether creek can serve it. All processes of
// the context decide alike: a call that creek does not serve goes to ScaLAPACK, which also checks
// and reports the arguments.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <creek/core/fnv.hpp>

#include "context.hpp"

namespace creek::scalapack {

using linalg::index_t;

/// Places in a descriptor.
enum : int {
  type_,
  context_,
  rows_,
  cols_,
  row_block_,
  col_block_,
  row_source_,
  col_source_,
  lld_
};

/// A matrix that begins with a whole block of the array that a descriptor describes.
template <class T>
struct operand {
  linalg::grid_view<T> view;
  index_t row, col;  ///< local indices in the array
};

class call {
 public:
  /// `desc`: that of the routine's first matrix.
  explicit call(const int* desc)
      : context_handle_(desc[context_]), in_(context::find(desc[context_])) {}

  /// Returns the matrix sub(A) = A(ia : ia + m - 1, ja : ja + n - 1), or nothing if it is empty,
  /// not whole blocks from its first element on, or its arguments are invalid.
  template <class T>
  [[nodiscard]] std::optional<operand<T>> matrix(int m, int n, T* a, int ia, int ja,
                                                 const int* desc) {
    for (const int global : {m, n, ia, ja}) note(global);
    for (const int i : {type_, rows_, cols_, row_block_, col_block_, row_source_, col_source_}) {
      note(desc[i]);
    }
    if (in_ == nullptr || !is_whole(m, n, ia, ja, desc)) return {};
    const linalg::process_grid& grid = in_->grid();
    const linalg::cyclic_axis rows{desc[rows_], desc[row_block_], desc[row_source_], grid.rows,
                                   grid.row};
    const linalg::cyclic_axis cols{desc[cols_], desc[col_block_], desc[col_source_], grid.cols,
                                   grid.col};
    const index_t row = rows.before(ia - 1), col = cols.before(ja - 1), leading = desc[lld_];
    if (leading < std::max<index_t>(1, rows.local_size())) return {};
    return operand<T>{{grid, m, n, rows.block, cols.block, a + row + col * leading, leading,
                       rows.owner(ia - 1), cols.owner(ja - 1)},
                      row,
                      col};
  }
  /// Adds a number that is the same at all processes in a valid call.
  void note(int global) noexcept { noted_.add(static_cast<std::uint32_t>(global)); }
  /// Returns whether all processes pass true, and the same numbers were noted. All of them call it.
  [[nodiscard]] bool all_agree(bool here) const;

  [[nodiscard]] mpi_communicator& ranks() const noexcept { return in_->ranks(); }

 private:
  [[nodiscard]] bool is_whole(int m, int n, int ia, int ja, const int* desc) const noexcept;

  int context_handle_;
  context* in_;
  fnv1a noted_;
};

[[nodiscard]] constexpr char in_upper_case(char letter) noexcept {
  return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
}
/// Letters of arguments; nothing for one that is wrong.
[[nodiscard]] std::optional<linalg::op> to_op(char letter) noexcept;
[[nodiscard]] std::optional<linalg::triangle> to_triangle(char letter) noexcept;

template <class T>
[[nodiscard]] bool has_square_blocks(const operand<T>& A) noexcept {
  return A.view.rows().block == A.view.cols().block;
}
/// Returns whether A has square blocks and B's rows are dealt as A's: a system that
/// linalg solves.
template <class T>
[[nodiscard]] bool is_system(const operand<T>& A, const operand<T>& B) noexcept {
  const linalg::cyclic_axis &a = A.view.rows(), &b = B.view.rows();
  return a.block == A.view.cols().block && a.size == b.size && a.block == b.block &&
         a.source == b.source;
}

}  // namespace creek::scalapack

// SPDX-License-Identifier: Apache-2.0
// Operand of a run: a matrix read from a file and kept, or made from its seed each time.
#pragma once

#include <creek/linalg/generate.hpp>
#include <creek/linalg/matrix.hpp>
#include <creek/linalg/tile_matrix.hpp>
#include <creek/tasking/parallel_for.hpp>
#include <utility>
#include <variant>

namespace creek::tool::dense {

using linalg::const_view;
using linalg::matrix;
using linalg::matrix_view;
using linalg::scalar;

/// Copies a matrix on all workers.
template <scalar T>
void copy_columns(const_view<T> from, matrix_view<T> to) {
  parallel_for_range(index_t{0}, to.cols(), [from, to](index_t first, index_t last) {
    linalg::copy<T>(from.columns(first, last - first), to.columns(first, last - first));
  });
}

template <scalar T>
class operand {
 public:
  explicit operand(matrix<T> read)
      : rows_(read.rows()), cols_(read.cols()), from_(std::move(read)) {}
  operand(const linalg::matrix_recipe& recipe, index_t rows, index_t cols)
      : rows_(rows), cols_(cols), from_(linalg::matrix_generator<T>(recipe, rows, cols)) {}

  index_t rows() const noexcept { return rows_; }
  index_t cols() const noexcept { return cols_; }

  /// Fills a view of the operand's shape, on all workers.
  void put(matrix_view<T> to) const {
    if (const auto* read = std::get_if<matrix<T>>(&from_)) {
      copy_columns<T>(read->view(), to);
      return;
    }
    const auto& made = std::get<linalg::matrix_generator<T>>(from_);
    parallel_for_range(index_t{0}, cols_, [&made, to](index_t first, index_t last) {
      made.fill(to.columns(first, last - first), 0, first);
    });
  }

  void put(linalg::tile_view<T> to) const {
    if (const auto* read = std::get_if<matrix<T>>(&from_)) return linalg::copy<T>(read->view(), to);
    const auto& made = std::get<linalg::matrix_generator<T>>(from_);
    parallel_for(index_t{0}, to.tile_rows() * to.tile_cols(), [&made, to](index_t place) {
      const index_t i = place % to.tile_rows(), j = place / to.tile_rows();
      made.fill(to.tile(i, j), i * to.tile_size(), j * to.tile_size());
    });
  }

  /// Returns the whole matrix, in `place` if it has to be made first.
  const_view<T> whole(matrix<T>& place) const {
    if (const auto* read = std::get_if<matrix<T>>(&from_)) return read->view();
    place = matrix<T>(rows_, cols_);
    put(place.view());
    return std::as_const(place).view();
  }

 private:
  index_t rows_, cols_;
  std::variant<matrix<T>, linalg::matrix_generator<T>> from_;
};

}  // namespace creek::tool::dense

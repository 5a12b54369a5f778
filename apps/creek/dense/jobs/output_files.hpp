// SPDX-License-Identifier: Apache-2.0
// The files that --output and --trace name, opened before the work begins, so that a name that
// cannot be written is reported before it.
#pragma once

#include <creek/core/io/atomic_file.hpp>
#include <creek/linalg/matrix_file.hpp>
#include <optional>

#include "dense/problem.hpp"

namespace creek::tool::dense {

class output_files {
 public:
  /// Throws creek::error if a file cannot be opened. The user did not choose the name of the file
  /// beside the matrix, so only a regular file is replaced there.
  explicit output_files(const problem& what) {
    const output_names names = outputs_of(what);
    if (!names.matrix.empty()) {
      format_ = linalg::format_of_name(names.matrix);
      matrix_.emplace(names.matrix);
    }
    if (!names.beside.empty()) beside_.emplace(names.beside, atomic_file::targets::regular);
    if (!what.trace.empty()) trace_.emplace(what.trace);
  }

  template <linalg::scalar T>
  void write(linalg::const_view<T> matrix) {
    linalg::write_matrix<T>(*matrix_, matrix, format_);
  }
  /// Writes the pivots or the scalar factors.
  template <linalg::scalar T>
  void write_beside(linalg::const_view<T> column) {
    linalg::write_matrix<T>(*beside_, column, format_);
  }
  /// Replaces both files, or none.
  void commit() {
    matrix_->prepare();
    if (beside_) beside_->prepare();
    matrix_->commit();
    if (beside_) beside_->commit();
  }

  /// Returns the file of the trace, or nullptr.
  atomic_file* trace() noexcept { return trace_ ? &*trace_ : nullptr; }

 private:
  linalg::matrix_format format_ = linalg::matrix_format::npy;
  std::optional<atomic_file> matrix_, beside_, trace_;
};

}  // namespace creek::tool::dense

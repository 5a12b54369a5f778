// SPDX-License-Identifier: Apache-2.0
// Checks of the shapes of a routine's arguments.
#pragma once

#include <string>

#include <creek/core/error.hpp>
#include <creek/linalg/detail/require.hpp>
#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

inline op other(op how, bool complex_too) noexcept {
  if (how != op::none) return op::none;
  return complex_too ? op::conjugate_transpose : op::transpose;
}

/// Returns the rows of op(A), for views of any kind; cols_of() returns its columns.
template <class View>
index_t rows_of(const View& A, op how) noexcept {
  return how == op::none ? A.rows() : A.cols();
}
template <class View>
index_t cols_of(const View& A, op how) noexcept {
  return how == op::none ? A.cols() : A.rows();
}

/// Throws usage_error unless op(A) op(B) has the shape of C.
template <class Inputs, class Output>
void check_product(const char* routine, op how_a, op how_b, const Inputs& A, const Inputs& B,
                   const Output& C) {
  require(rows_of(A, how_a) == C.rows() && cols_of(B, how_b) == C.cols() &&
              rows_of(B, how_b) == cols_of(A, how_a),
          routine, "op(A) must be m x k, op(B) k x n and C m x n");
}

/// Throws usage_error unless A is square, of the order of B on the side where it stands.
template <class Input, class Output>
void check_triangle(const char* routine, side where, const Input& A, const Output& B) {
  const index_t order = where == side::left ? B.rows() : B.cols();
  require(A.rows() == order && A.cols() == order, routine,
          "A must be square, of the order of the rows (left) or columns (right) of B");
}

}  // namespace creek::linalg::detail

// SPDX-License-Identifier: Apache-2.0
// Products of operands in any layout, the base of all level 3 routines.
#pragma once

#include <creek/linalg/matrix.hpp>

#include "blas3/workers.hpp"
#include "packing.hpp"

namespace creek::linalg::detail {

/// Part of a product to compute.
enum class part { all, lower, upper };

inline part part_of(triangle stored) noexcept {
  return stored == triangle::lower ? part::lower : part::upper;
}

/// Block sizes in elements of T: a strip of the right operand fits the first-level cache, a block
/// of the left one fits the second-level cache.
template <scalar T>
struct blocking {
  static index_t depth() noexcept { return 256 / reals<T>; }
  static index_t rows(index_t depth = blocking::depth()) noexcept;
  static index_t cols() noexcept { return 4096; }
};

/// c += left * right for packed operands: rows x depth times depth x cols. With `which` = lower,
/// only elements (i, j) with i + below >= j; with upper, only i + below <= j. With `fresh`, c is 0
/// before, whatever it holds; all of it. One thread.
template <scalar T>
void multiply_packed(index_t rows, index_t cols, index_t depth, const real<T>* left,
                     const real<T>* right, T* c, index_t leading, part which = part::all,
                     index_t below = 0, bool fresh = false) noexcept;

/// Maximum number of columns of a product that are computed one by one, because packing the other
/// operand would take longer.
inline constexpr index_t vector_columns = 4;

/// c += alpha * a * b, where `depth` is the columns of a and the rows of b; c must not overlap
/// them. Throws std::bad_alloc, which leaves c partly updated.
template <class Workers, scalar T>
void multiply_add_by(T alpha, const strided<T>& a, const strided<T>& b, index_t depth,
                     matrix_view<T> c, part which = part::all);

/// c = alpha * a * b, without a pass of its own over c if it is packed. Otherwise the same.
template <class Workers, scalar T>
void multiply_by(T alpha, const strided<T>& a, const strided<T>& b, index_t depth,
                 matrix_view<T> c);

/// Like multiply_add_by, on the workers of the current runtime.
template <scalar T>
void multiply_add(T alpha, const strided<T>& a, const strided<T>& b, index_t depth,
                  matrix_view<T> c, part which = part::all) {
  multiply_add_by<all_workers>(alpha, a, b, depth, c, which);
}

/// Like multiply_add_by, in the calling thread alone.
template <scalar T>
void multiply_add_here(T alpha, const strided<T>& a, const strided<T>& b, index_t depth,
                       matrix_view<T> c, part which = part::all) {
  multiply_add_by<this_thread>(alpha, a, b, depth, c, which);
}

/// c = beta * c + alpha * a * b without packing or tasks, if the matrices are real and small enough
/// for that to be faster; returns false otherwise, or if another library is to do products.
template <class Workers, scalar T>
[[nodiscard]] bool multiply_in_place(T alpha, const strided<T>& a, const strided<T>& b,
                                     index_t depth, T beta, matrix_view<T> c);

/// c = beta * c, where 0 times anything is 0, also NaN.
template <scalar T>
void scale(T beta, matrix_view<T> c, part which = part::all) noexcept;

/// Like scale, by the policy `Workers`.
template <class Workers, scalar T>
void scale_by(T beta, matrix_view<T> c, part which = part::all);

/// A becomes the identity, or its first rows or columns.
template <scalar T>
void set_identity(matrix_view<T> A) noexcept {
  for (index_t j = 0; j < A.cols(); ++j) {
    std::fill_n(A.column(j), A.rows(), T{});
    if (j < A.rows()) A(j, j) = T{1};
  }
}

/// Sets the imaginary parts of the diagonal of a Hermitian matrix to exact zeros.
template <scalar T>
void make_diagonal_real(matrix_view<T> C) noexcept {
  if constexpr (is_complex<T>) {
    for (index_t i = 0; i < C.rows(); ++i) C(i, i) = C(i, i).real();
  }
}

}  // namespace creek::linalg::detail

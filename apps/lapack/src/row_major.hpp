// SPDX-License-Identifier: Apache-2.0
// Matrices of the C interface, which may have either layout: transposes them for the computation,
// and searches them for NaN.
#pragma once

#include <cmath>

#include "arguments.hpp"

namespace creek::lapack {
inline namespace CREEK_LAPACK_WIDTH {

/// The part of a matrix that an argument means.
struct region {
  bool lower = true;
  bool on_diagonal = true;
  bool upper = true;

  bool has(index_t i, index_t j) const noexcept {
    return i > j ? lower : i < j ? upper : on_diagonal;
  }
  /// Returns the triangle's region; empty for an invalid letter, which the routine itself rejects.
  static region of_triangle(char uplo, char diag = 'N') noexcept {
    const auto stored = parse_triangle(uplo);
    const auto ones = parse_diagonal(diag);
    if (!stored || !ones) return {false, false, false};
    return {*stored == triangle::lower, *ones == diagonal::stored, *stored == triangle::upper};
  }
};

/// A matrix among the arguments of a LAPACKE function.
template <scalar T>
struct operand {
  T* data;
  blas_int rows;
  blas_int cols;
  blas_int leading;
  int position;  ///< argument number of `data`, from 1; the leading dimension follows
  region part = {};
  bool written = true;
  bool read = true;
  std::optional<region> result = {};  ///< what is written, where that is not `part`
};

/// Makes an operand that is only read.
template <scalar T>
operand<T> read_only(const T* data, blas_int rows, blas_int cols, blas_int leading, int position,
                     region part = {}) {
  return {const_cast<T*>(data), rows, cols, leading, position, part, false};
}

/// Makes an operand whose elements mean nothing before the call.
template <scalar T>
operand<T> write_only(T* data, blas_int rows, blas_int cols, blas_int leading, int position) {
  return {data, rows, cols, leading, position, {}, true, false};
}

/// Makes an operand for a vector that is only read, in either layout.
template <scalar T>
operand<T> read_only_vector(int layout_number, const T* data, blas_int length, int position) {
  const bool by_rows = layout_number == static_cast<int>(layout::rows);
  return read_only(data, length, 1, by_rows ? 1 : std::max<blas_int>(1, length), position);
}

/// Returns the shape that a row-major operand has for LAPACK, without its elements.
template <scalar T>
operand<T> with_enough_leading(operand<T> of) {
  of.leading = std::max<blas_int>(1, of.rows);
  return of;
}

/// Calls visit(i, j, at) for the elements of the operand's region, in squares that fit the cache;
/// `at` is the index of element (i, j) in its layout.
template <scalar T, class F>
void for_each_element(const operand<T>& of, layout order, F visit) {
  constexpr index_t square = 32;
  const index_t leading = of.leading;
  for (index_t j0 = 0; j0 < of.cols; j0 += square) {
    for (index_t i0 = 0; i0 < of.rows; i0 += square) {
      for (index_t j = j0; j < std::min<index_t>(j0 + square, of.cols); ++j) {
        for (index_t i = i0; i < std::min<index_t>(i0 + square, of.rows); ++i) {
          if (!of.part.has(i, j)) continue;
          visit(i, j, order == layout::columns ? i + j * leading : i * leading + j);
        }
      }
    }
  }
}

/// Returns whether an element is NaN, without those that a too small leading dimension leaves out.
template <scalar T>
bool has_nan(operand<T> in, layout order) {
  if (in.data == nullptr || !in.read) return false;
  blas_int& short_side = order == layout::columns ? in.rows : in.cols;
  short_side = std::min(short_side, in.leading);
  bool found = false;
  for_each_element(in, order, [&](index_t, index_t, index_t at) {
    const T x = in.data[at];
    found = found || std::isnan(std::real(x)) || std::isnan(std::imag(x));
  });
  return found;
}

/// Copies a row-major operand to LAPACK's layout, and back.
template <scalar T>
class column_major {
 public:
  /// Makes the copy. Throws std::bad_alloc.
  explicit column_major(const operand<T>& from)
      : from_(from),
        copy_(std::max<index_t>(0, from.rows), std::max<index_t>(0, from.cols)),
        turned_(from) {
    if (from_.read) {
      for_each_element(from_, layout::rows,
                       [this](index_t i, index_t j, index_t at) { copy_(i, j) = from_.data[at]; });
    }
    turned_.data = copy_.data();
    turned_.leading = static_cast<blas_int>(copy_.leading());
  }

  const operand<T>& turned() const noexcept { return turned_; }
  void write_back() const {
    if (!from_.written) return;
    operand<T> to = from_;
    to.part = from_.result.value_or(from_.part);
    for_each_element(to, layout::rows,
                     [this](index_t i, index_t j, index_t at) { from_.data[at] = copy_(i, j); });
  }

 private:
  operand<T> from_;
  linalg::matrix<T> copy_;
  operand<T> turned_;
};

}  // namespace CREEK_LAPACK_WIDTH
}  // namespace creek::lapack

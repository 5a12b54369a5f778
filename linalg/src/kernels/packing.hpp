// SPDX-License-Identifier: Apache-2.0
// Operands of products in memory, and their packed layout for the micro-kernels.
#pragma once

#include <utility>

#include <creek/linalg/matrix.hpp>

#include "micro_kernels.hpp"

namespace creek::linalg::detail {

template <scalar T>
inline constexpr index_t reals = is_complex<T> ? 2 : 1;

/// Structure of a square matrix: which elements are stored, and how they define the others.
enum class structure { general, symmetric, hermitian, triangular, unit_triangular };

/// Matrix read through strides, which may be negative: element (i, j) is at data[i * row_step + j *
/// col_step], conjugated if `conjugate` is set. If a matrix has structure, the triangle that
/// `stored_low` names (as seen through the strides) defines the whole matrix.
template <scalar T>
struct strided {
  const T* data;
  index_t row_step;
  index_t col_step;
  bool conjugate = false;
  structure shape = structure::general;
  bool stored_low = false;
  index_t first_row = 0;  // offset in the structured matrix
  index_t first_col = 0;

  strided block(index_t i, index_t j) const noexcept {
    strided part = *this;
    part.data += i * row_step + j * col_step;
    part.first_row += i;
    part.first_col += j;
    return part;
  }
  /// Returns the transposed matrix.
  strided transposed() const noexcept {
    strided other = *this;
    std::swap(other.row_step, other.col_step);
    std::swap(other.first_row, other.first_col);
    other.stored_low = !stored_low;
    return other;
  }
  /// Returns element (i, j), derived from the stored triangle if the matrix has structure.
  T at(index_t i, index_t j) const noexcept;
};

/// Returns op(a).
template <scalar T>
strided<T> strided_of(const_view<T> a, op how) noexcept {
  strided<T> direct{a.data(), 1, a.leading()};
  if (how == op::none) return direct;
  strided<T> other = direct.transposed();
  other.conjugate = how == op::conjugate_transpose;
  return other;
}

template <scalar T>
T strided<T>::at(index_t i, index_t j) const noexcept {
  const index_t below = (first_row + i) - (first_col + j);
  bool mirrored = false;
  bool real_only = false;
  if (shape != structure::general && below != 0 && (below > 0) != stored_low) {
    if (shape == structure::triangular || shape == structure::unit_triangular) return T{};
    mirrored = true;
  }
  if (below == 0) {
    if (shape == structure::unit_triangular) return T{1};
    real_only = shape == structure::hermitian;
  }
  const T value = mirrored ? data[(i - below) * row_step + (j + below) * col_step]
                           : data[i * row_step + j * col_step];
  if constexpr (is_complex<T>) {
    if (real_only) return value.real();
    const bool flip = conjugate != (mirrored && shape == structure::hermitian);
    return flip ? std::conj(value) : value;
  } else {
    return value;
  }
}

inline index_t round_up(index_t n, index_t to) noexcept {
  return (n + to - 1) / to * to;
}

/// Returns the number of reals in the packed left operand of rows x depth elements of T.
template <scalar T>
index_t packed_left_size(index_t rows, index_t depth) noexcept {
  return round_up(reals<T> * rows, micro_kernels_of<real<T>>().rows) * reals<T> * depth;
}
/// Returns the same for a right operand of depth x cols.
template <scalar T>
index_t packed_right_size(index_t depth, index_t cols) noexcept {
  return reals<T> * depth * round_up(cols, micro_kernels_of<real<T>>().cols);
}

/// Packs rows x depth elements of the left operand.
template <scalar T>
void pack_left(const strided<T>& a, index_t rows, index_t depth, real<T>* to) noexcept;

/// Packs alpha times depth x cols elements of the right operand.
template <scalar T>
void pack_right(const strided<T>& b, index_t depth, index_t cols, T alpha, real<T>* to) noexcept;

/// Writes the elements of a packed right operand back to memory.
template <scalar T>
void unpack_right(const real<T>* from, index_t depth, index_t cols, T* to, index_t row_step,
                  index_t col_step) noexcept;

}  // namespace creek::linalg::detail

// SPDX-License-Identifier: Apache-2.0
// Products of operands in any layout, which all of level 3 comes down to.
#pragma once

#include <creek/linalg/matrix.hpp>

#include "packing.hpp"
#include "workers.hpp"

namespace creek::linalg::detail {

/// Which part of a product is wanted.
enum class part { all, lower, upper };

inline part part_of(triangle stored) noexcept {
  return stored == triangle::lower ? part::lower : part::upper;
}

/// How operands are cut: a strip of the right one stays in the first-level cache, a block of the
/// left one in the second. In elements of T.
template <scalar T>
struct blocking {
  static index_t depth() noexcept { return 256 / reals<T>; }
  static index_t rows(index_t depth = blocking::depth()) noexcept;
  static index_t cols() noexcept { return 4096; }
};

/// c += left * right for packed operands: rows x depth times depth x cols. Of `which` = lower only
/// elements (i, j) with i + below >= j, of upper with i + below <= j. One thread.
template <scalar T>
void multiply_packed(index_t rows, index_t cols, index_t depth, const real<T>* left,
                     const real<T>* right, T* c, index_t leading, part which = part::all,
                     index_t below = 0) noexcept;

/// Columns of a product that are few enough to be done one by one: to pack what they are multiplied
/// with would take longer.
inline constexpr index_t vector_columns = 4;

/// c += alpha * a * b, `depth` being the columns of a and the rows of b; c overlaps neither. Throws
/// std::bad_alloc, which leaves c partly updated.
template <class Workers, scalar T>
void multiply_add_by(T alpha, const strided<T>& a, const strided<T>& b, index_t depth,
                     matrix_view<T> c, part which = part::all);

/// On the workers of the runtime that runs here.
template <scalar T>
void multiply_add(T alpha, const strided<T>& a, const strided<T>& b, index_t depth,
                  matrix_view<T> c, part which = part::all) {
  multiply_add_by<all_workers>(alpha, a, b, depth, c, which);
}

/// In the calling thread alone.
template <scalar T>
void multiply_add_here(T alpha, const strided<T>& a, const strided<T>& b, index_t depth,
                       matrix_view<T> c, part which = part::all) {
  multiply_add_by<this_thread>(alpha, a, b, depth, c, which);
}

/// c = beta * c, in which 0 times anything is 0.
template <scalar T>
void scale(T beta, matrix_view<T> c, part which = part::all) noexcept;

/// Imaginary parts of the diagonal of a Hermitian matrix are exact zeros.
template <scalar T>
void make_diagonal_real(matrix_view<T> C) noexcept {
  if constexpr (is_complex<T>) {
    for (index_t i = 0; i < C.rows(); ++i) C(i, i) = C(i, i).real();
  }
}

}  // namespace creek::linalg::detail

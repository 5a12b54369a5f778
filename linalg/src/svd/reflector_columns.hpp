// SPDX-License-Identifier: Apache-2.0
// Reflectors applied to few columns, all at once, where blocks of reflectors would not pay.
#pragma once

#include "kernels/vector_kernels.hpp"
#include "svd_kernels.hpp"

namespace creek::linalg::detail {

/// y[j] = sum over i of conj(A(i, j)) x[i].
template <scalar T>
void project_on(const_view<T> A, const T* x, T* y) noexcept {
  if constexpr (is_complex<T>) {
    project(A.rows(), A.cols(), A.data(), A.leading(), x, y);
  } else {
    svd_kernels_of<T>().project(A.rows(), A.cols(), A.data(), A.leading(), x, y);
  }
}

/// y -= A x.
template <scalar T>
void subtract_product(const_view<T> A, const T* x, T* y) noexcept {
  if constexpr (is_complex<T>) {
    subtract(A.rows(), A.cols(), A.data(), A.leading(), x, y);
  } else {
    svd_kernels_of<T>().subtract(A.rows(), A.cols(), A.data(), A.leading(), x, y);
  }
}

/// A -= x y^T.
template <scalar T>
void subtract_outer(const T* x, const T* y, matrix_view<T> A) noexcept {
  if constexpr (is_complex<T>) {
    for (index_t j = 0; j < A.cols(); ++j) subtract(A.rows(), 1, x, 0, y + j, A.column(j));
  } else {
    svd_kernels_of<T>().subtract_outer(A.rows(), A.cols(), x, y, A.data(), A.leading());
  }
}

/// C = (I - tau v v^H) C, where v is stored whole. `work` has as many elements as C has columns.
template <scalar T>
void apply_whole_reflector(const T* v, T tau, matrix_view<T> C, T* work) noexcept {
  if (C.empty() || tau == T{}) return;
  project_on<T>(C, v, work);
  // The products are those of the columns' conjugates with v.
  for (index_t j = 0; j < C.cols(); ++j) work[j] = tau * conjugated(work[j]);
  subtract_outer(v, work, C);
}

}  // namespace creek::linalg::detail

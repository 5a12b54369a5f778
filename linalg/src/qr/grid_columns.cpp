// SPDX-License-Identifier: Apache-2.0
// The innermost loops of a panel of QR on a grid.
#include <creek/linalg/detail/grid_qr_panel.hpp>

#include "kernels/vector_kernels.hpp"

namespace creek::linalg::detail {

template <scalar T>
void project_first(const_view<T> A, T* products) {
  project(A.rows(), A.cols(), A.data(), A.leading(), A.data(), products);
}

template <scalar T>
void subtract_first(matrix_view<T> A, T factor, const T* weights) {
  const index_t others = A.cols() - 1;
  if constexpr (is_complex<T>) {
    for (index_t i = 0; i < A.rows(); ++i) A(i, 0) = times(A(i, 0), factor);
    for (index_t c = 0; c < others; ++c) {
      subtract(A.rows(), 1, A.data(), 0, weights + c, A.column(c + 1));
    }
  } else {
    T unused[8];
    vector_kernels_of<T>().reflect(A.rows(), others, factor, A.data(), A.leading(), weights,
                                   unused);
  }
}

#define CREEK_INSTANTIATE(letter, T)                 \
  template void project_first<T>(const_view<T>, T*); \
  template void subtract_first<T>(matrix_view<T>, T, const T*);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail

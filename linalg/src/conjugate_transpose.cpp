// SPDX-License-Identifier: Apache-2.0
#include "conjugate_transpose.hpp"

#include <algorithm>

#include "blas3/workers.hpp"
#include "kernels/vector_kernels.hpp"

namespace creek::linalg::detail {

template <scalar T>
void conjugate_transpose_to(const_view<T> A, matrix_view<T> B) {
  constexpr index_t square = 32, strip = 128;
  all_workers::for_each((A.cols() + strip - 1) / strip, [&](index_t s) {
    const index_t end = std::min(A.cols(), (s + 1) * strip);
    for (index_t i0 = 0; i0 < A.rows(); i0 += square) {
      const index_t i1 = std::min(A.rows(), i0 + square);
      for (index_t j0 = s * strip; j0 < end; j0 += square) {
        const index_t j1 = std::min(end, j0 + square);
        for (index_t i = i0; i < i1; ++i) {
          for (index_t j = j0; j < j1; ++j) B(j, i) = conjugated(A(i, j));
        }
      }
    }
  });
}

template <scalar T>
matrix<T> conjugate_transposed_copy(const_view<T> A) {
  matrix<T> B(A.cols(), A.rows());
  conjugate_transpose_to<T>(A, B.view());
  return B;
}

#define CREEK_INSTANTIATE(letter, T)                                      \
  template void conjugate_transpose_to<T>(const_view<T>, matrix_view<T>); \
  template matrix<T> conjugate_transposed_copy<T>(const_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail

// SPDX-License-Identifier: Apache-2.0
#include "conjugate_transpose.hpp"

#include <algorithm>

#include "blas3/workers.hpp"
#include "kernels/vector_kernels.hpp"

namespace creek::linalg::detail {

namespace {

/// Order of the squares: small, as columns that are a power of two apart share few lines of the
/// cache.
constexpr index_t turned_square = 8;

/// B = A^H for the first rows and columns of A, at most a square.
template <scalar T>
void turn_square(const T* a, index_t lda, index_t rows, index_t cols, T* b, index_t ldb) noexcept {
  for (index_t i = 0; i < rows; ++i) {
    for (index_t j = 0; j < cols; ++j) b[j + i * ldb] = conjugated(a[i + j * lda]);
  }
}

}  // namespace

template <scalar T>
void conjugate_transpose_to(const_view<T> A, matrix_view<T> B) {
  constexpr index_t square = turned_square, strip = 16 * square;
  all_workers::for_each((A.cols() + strip - 1) / strip, [&](index_t s) {
    const index_t end = std::min(A.cols(), (s + 1) * strip);
    for (index_t i = 0; i < A.rows(); i += square) {
      const index_t rows = std::min(square, A.rows() - i);
      for (index_t j = s * strip; j < end; j += square) {
        const index_t cols = std::min(square, end - j);
        if (rows == square && cols == square) {
          // Constant numbers let the compiler unroll the loops.
          turn_square(&A(i, j), A.leading(), square, square, &B(j, i), B.leading());
        } else {
          turn_square(&A(i, j), A.leading(), rows, cols, &B(j, i), B.leading());
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

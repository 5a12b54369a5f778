// SPDX-License-Identifier: Apache-2.0
// Definitions that the routines for QR and LQ share: block widths of LAPACK, operations, both
// interfaces.
#pragma once

#include <algorithm>

#include "exports.hpp"
#include "workspace.hpp"

namespace creek::lapack {
inline namespace CREEK_LAPACK_WIDTH {

/// LAPACK's own block width, which determines the workspace that its routines ask for.
constexpr double lapack_block = 32;

inline double qr_flops(double m, double n) {
  const double least = std::min(m, n);
  return 2 * least * least * (std::max(m, n) - least / 3);
}
/// Returns the operations to apply k reflectors of m rows to n columns.
inline double reflector_flops(double m, double n, double k) {
  return 2 * n * k * (2 * m - k);
}

/// LAPACKE's form of a factorization f(A, leading) of an m x n matrix.
template <scalar T, class F>
blas_int c_factorization(const c_call& how, blas_int m, blas_int n, T* a, blas_int lda, F f) {
  return c_interface(
      how, [&](const operand<T>& A) { return f(A.data, A.leading); }, operand<T>{a, m, n, lda, 4});
}
/// LAPACKE's form of f(A, leading, tau), which makes the m x n matrix Q of k reflectors.
template <scalar T, class F>
blas_int c_generation(const c_call& how, blas_int m, blas_int n, blas_int k, T* a, blas_int lda,
                      const T* tau, F f) {
  return c_interface(
      how, [&](const operand<T>& A, const operand<T>& t) { return f(A.data, A.leading, t.data); },
      operand<T>{a, m, n, lda, 5}, read_only_vector(how.given_layout, tau, k, 7));
}

}  // namespace CREEK_LAPACK_WIDTH
}  // namespace creek::lapack

/// Defines a routine that factors a matrix, xROUTINE, by the function template ROUTINE.
#define CREEK_DEFINE_FACTORIZATION(x, T, ROUTINE)                                                  \
  CREEK_LAPACK(                                                                                    \
      x##ROUTINE,                                                                                  \
      (in_int m, in_int n, T * a, in_int lda, T * tau, T * work, in_int lwork, blas_int * info),   \
      ROUTINE(*m, *n, a, *lda, tau, workspace<T>(work, *lwork)))                                   \
  CREEK_LAPACKE_WITH_WORK(x##ROUTINE, T,                                                           \
                          (int layout_number, blas_int m, blas_int n, T* a, blas_int lda, T* tau), \
                          c_factorization(how, m, n, a, lda, [&](T* A, blas_int leading) {         \
                            return ROUTINE(m, n, A, leading, tau, space);                          \
                          }))

/// Defines NAME, which makes Q of such a factorization, by the function template ROUTINE.
#define CREEK_DEFINE_GENERATION(NAME, T, ROUTINE)                                                \
  CREEK_LAPACK(NAME,                                                                             \
               (in_int m, in_int n, in_int k, T * a, in_int lda, const T* tau, T* work,          \
                in_int lwork, blas_int* info),                                                   \
               ROUTINE(*m, *n, *k, a, *lda, tau, workspace<T>(work, *lwork)))                    \
  CREEK_LAPACKE_WITH_WORK(                                                                       \
      NAME, T,                                                                                   \
      (int layout_number, blas_int m, blas_int n, blas_int k, T* a, blas_int lda, const T* tau), \
      c_generation(how, m, n, k, a, lda, tau, [&](T* A, blas_int leading, const T* t) {          \
        return ROUTINE(m, n, k, A, leading, t, space);                                           \
      }))

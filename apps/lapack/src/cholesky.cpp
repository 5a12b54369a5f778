// SPDX-License-Identifier: Apache-2.0
// potrf, potrs, posv, potri.
#include <creek/linalg/cholesky.hpp>
#include <creek/linalg/inverse.hpp>

#include "exports.hpp"
#include "workers.hpp"

namespace creek::lapack {
namespace {

double factor_flops(double n) {
  return n * n * n / 3;
}

/// Shared part of potrf and potri: checks the arguments and runs one of them as f(stored, A).
template <scalar T, class F>
blas_int in_triangle(char uplo, blas_int n, T* a, blas_int lda, double flops, F f) {
  const auto stored = parse_triangle(uplo);
  if (!stored) return -1;
  if (n < 0) return -2;
  if (!holds(lda, n, n)) return -4;
  if (n == 0) return 0;
  const matrix_view<T> A(a, n, n, lda);
  return static_cast<blas_int>(on_workers(cost<T>(flops), [&] { return f(*stored, A); }));
}

template <scalar T>
blas_int potrf(char uplo, blas_int n, T* a, blas_int lda) {
  return in_triangle(uplo, n, a, lda, factor_flops(n),
                     [](triangle stored, matrix_view<T> A) { return linalg::potrf(stored, A); });
}

template <scalar T>
blas_int potri(char uplo, blas_int n, T* a, blas_int lda) {
  return in_triangle(uplo, n, a, lda, 2 * factor_flops(n),
                     [](triangle stored, matrix_view<T> A) { return linalg::potri(stored, A); });
}

/// Checks the arguments that potrs and posv share.
blas_int check_solve(char uplo, blas_int n, blas_int nrhs, blas_int lda, blas_int ldb) {
  if (!parse_triangle(uplo)) return -1;
  if (n < 0) return -2;
  if (nrhs < 0) return -3;
  if (!holds(lda, n, n)) return -5;
  return holds(ldb, n, nrhs) ? 0 : -7;
}

template <scalar T>
blas_int potrs(char uplo, blas_int n, blas_int nrhs, const T* a, blas_int lda, T* b, blas_int ldb) {
  if (const blas_int bad = check_solve(uplo, n, nrhs, lda, ldb)) return bad;
  if (n == 0 || nrhs == 0) return 0;
  on_workers(cost<T>(2.0 * n * n * nrhs), [&] {
    linalg::potrs<T>(*parse_triangle(uplo), const_view<T>(a, n, n, lda),
                     matrix_view<T>(b, n, nrhs, ldb));
  });
  return 0;
}

template <scalar T>
blas_int posv(char uplo, blas_int n, blas_int nrhs, T* a, blas_int lda, T* b, blas_int ldb) {
  if (const blas_int bad = check_solve(uplo, n, nrhs, lda, ldb)) return bad;
  if (n == 0) return 0;
  const index_t info = on_workers(cost<T>(factor_flops(n) + 2.0 * n * n * nrhs), [&] {
    return linalg::posv(*parse_triangle(uplo), matrix_view<T>(a, n, n, lda),
                        matrix_view<T>(b, n, nrhs, ldb));
  });
  return static_cast<blas_int>(info);
}

template <scalar T>
blas_int c_potrf(const c_call& how, char uplo, blas_int n, T* a, blas_int lda) {
  return c_interface(
      how, [&](const operand<T>& A) { return potrf(uplo, n, A.data, A.leading); },
      operand<T>{a, n, n, lda, 4, region::of_triangle(uplo)});
}

template <scalar T>
blas_int c_potri(const c_call& how, char uplo, blas_int n, T* a, blas_int lda) {
  return c_interface(
      how, [&](const operand<T>& A) { return potri(uplo, n, A.data, A.leading); },
      operand<T>{a, n, n, lda, 4, region::of_triangle(uplo)});
}

template <scalar T>
blas_int c_potrs(const c_call& how, char uplo, blas_int n, blas_int nrhs, const T* a, blas_int lda,
                 T* b, blas_int ldb) {
  return c_interface(
      how,
      [&](const operand<T>& A, const operand<T>& B) {
        return potrs<T>(uplo, n, nrhs, A.data, A.leading, B.data, B.leading);
      },
      read_only(a, n, n, lda, 5, region::of_triangle(uplo)), operand<T>{b, n, nrhs, ldb, 7});
}

template <scalar T>
blas_int c_posv(const c_call& how, char uplo, blas_int n, blas_int nrhs, T* a, blas_int lda, T* b,
                blas_int ldb) {
  return c_interface(
      how,
      [&](const operand<T>& A, const operand<T>& B) {
        return posv(uplo, n, nrhs, A.data, A.leading, B.data, B.leading);
      },
      operand<T>{a, n, n, lda, 5, region::of_triangle(uplo)}, operand<T>{b, n, nrhs, ldb, 7});
}

}  // namespace
}  // namespace creek::lapack

using namespace creek::lapack;

#define CREEK_DEFINE(x, T)                                                                         \
  CREEK_LAPACK(x##potrf, (const char* uplo, in_int n, T* a, in_int lda, blas_int* info),           \
               potrf(*uplo, *n, a, *lda))                                                          \
  CREEK_LAPACKE(x##potrf, (int layout_number, char uplo, blas_int n, T* a, blas_int lda),          \
                c_potrf(how, uplo, n, a, lda))                                                     \
  CREEK_LAPACK(x##potri, (const char* uplo, in_int n, T* a, in_int lda, blas_int* info),           \
               potri(*uplo, *n, a, *lda))                                                          \
  CREEK_LAPACKE(x##potri, (int layout_number, char uplo, blas_int n, T* a, blas_int lda),          \
                c_potri(how, uplo, n, a, lda))                                                     \
  CREEK_LAPACK(x##potrs,                                                                           \
               (const char* uplo, in_int n, in_int nrhs, const T* a, in_int lda, T* b, in_int ldb, \
                blas_int* info),                                                                   \
               potrs(*uplo, *n, *nrhs, a, *lda, b, *ldb))                                          \
  CREEK_LAPACKE(x##potrs,                                                                          \
                (int layout_number, char uplo, blas_int n, blas_int nrhs, const T* a,              \
                 blas_int lda, T* b, blas_int ldb),                                                \
                c_potrs(how, uplo, n, nrhs, a, lda, b, ldb))                                       \
  CREEK_LAPACK(x##posv,                                                                            \
               (const char* uplo, in_int n, in_int nrhs, T* a, in_int lda, T* b, in_int ldb,       \
                blas_int* info),                                                                   \
               posv(*uplo, *n, *nrhs, a, *lda, b, *ldb))                                           \
  CREEK_LAPACKE(x##posv,                                                                           \
                (int layout_number, char uplo, blas_int n, blas_int nrhs, T* a, blas_int lda,      \
                 T* b, blas_int ldb),                                                              \
                c_posv(how, uplo, n, nrhs, a, lda, b, ldb))
CREEK_FOR_EACH_SCALAR(CREEK_DEFINE)
#undef CREEK_DEFINE

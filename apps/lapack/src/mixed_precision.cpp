// SPDX-License-Identifier: Apache-2.0
// dsgesv, dsposv. The complex ones are left to LAPACK, which is faster up to an order of 20.
#include <creek/linalg/refine.hpp>

#include "exports.hpp"
#include "pivot_list.hpp"
#include "workers.hpp"

namespace creek::lapack {
namespace {

/// The system and the workspaces; SWORK is null where the caller has none.
template <scalar T>
struct mixed_system {
  blas_int n, nrhs;
  T* a;
  blas_int lda;
  const T* b;
  blas_int ldb;
  T* x;
  blas_int ldx;
  T* work;
  linalg::lower_precision<T>* swork;

  double flops(double share_of_cube) const {
    return share_of_cube * n * n * n + 4.0 * n * n * nrhs;
  }
  linalg::mixed_work<T> memory() const {
    if (swork == nullptr) return {};
    const auto rows = static_cast<std::size_t>(n), cols = static_cast<std::size_t>(nrhs);
    return {{work, rows * cols}, {swork, rows * (rows + cols)}};
  }
  matrix_view<T> A() const { return {a, n, n, lda}; }
  const_view<T> B() const { return {b, n, nrhs, ldb}; }
  matrix_view<T> X() const { return {x, n, nrhs, ldx}; }
};

template <scalar T>
blas_int gesv_mixed(blas_int* ipiv, blas_int* iter, const mixed_system<T>& given) {
  *iter = 0;
  const blas_int n = given.n;
  if (n < 0) return -1;
  if (given.nrhs < 0) return -2;
  if (!holds(given.lda, n, n)) return -4;
  if (!holds(given.ldb, n, given.nrhs)) return -7;
  if (!holds(given.ldx, n, given.nrhs)) return -9;
  if (n == 0) return 0;
  pivot_list pivots(n);
  const linalg::mixed_result done = on_workers(cost<T>(given.flops(2.0 / 3)), [&] {
    return linalg::gesv_mixed<T>(given.A(), pivots.span(), given.B(), given.X(), {},
                                 given.memory());
  });
  pivots.write(ipiv);
  *iter = static_cast<blas_int>(done.iterations);
  return static_cast<blas_int>(done.info);
}

template <scalar T>
blas_int posv_mixed(char uplo, blas_int* iter, const mixed_system<T>& given) {
  *iter = 0;
  const blas_int n = given.n;
  const auto stored = parse_triangle(uplo);
  if (!stored) return -1;
  if (n < 0) return -2;
  if (given.nrhs < 0) return -3;
  if (!holds(given.lda, n, n)) return -5;
  if (!holds(given.ldb, n, given.nrhs)) return -7;
  if (!holds(given.ldx, n, given.nrhs)) return -9;
  if (n == 0) return 0;
  const linalg::mixed_result done = on_workers(cost<T>(given.flops(1.0 / 3)), [&] {
    return linalg::posv_mixed<T>(*stored, given.A(), given.B(), given.X(), {}, given.memory());
  });
  *iter = static_cast<blas_int>(done.iterations);
  return static_cast<blas_int>(done.info);
}

template <scalar T>
blas_int c_gesv_mixed(const c_call& how, blas_int* ipiv, blas_int* iter,
                      const mixed_system<T>& given) {
  const blas_int n = given.n, nrhs = given.nrhs;
  return c_interface(
      how,
      [&](const operand<T>& A, const operand<T>& B, const operand<T>& X) {
        return gesv_mixed<T>(ipiv, iter,
                             {n, nrhs, A.data, A.leading, B.data, B.leading, X.data, X.leading,
                              given.work, given.swork});
      },
      operand<T>{given.a, n, n, given.lda, 4}, read_only(given.b, n, nrhs, given.ldb, 7),
      write_only(given.x, n, nrhs, given.ldx, 9));
}

template <scalar T>
blas_int c_posv_mixed(const c_call& how, char uplo, blas_int* iter, const mixed_system<T>& given) {
  const blas_int n = given.n, nrhs = given.nrhs;
  return c_interface(
      how,
      [&](const operand<T>& A, const operand<T>& B, const operand<T>& X) {
        return posv_mixed<T>(uplo, iter,
                             {n, nrhs, A.data, A.leading, B.data, B.leading, X.data, X.leading,
                              given.work, given.swork});
      },
      operand<T>{given.a, n, n, given.lda, 5, region::of_triangle(uplo)},
      read_only(given.b, n, nrhs, given.ldb, 7), write_only(given.x, n, nrhs, given.ldx, 9));
}

}  // namespace
}  // namespace creek::lapack

using namespace creek::lapack;

#define CREEK_DEFINE(x, T, S)                                                                      \
  CREEK_LAPACK(x##gesv,                                                                            \
               (in_int n, in_int nrhs, T * a, in_int lda, blas_int * ipiv, const T* b, in_int ldb, \
                T* x, in_int ldx, T* work, S* swork, blas_int* iter, blas_int* info),              \
               gesv_mixed<T>(ipiv, iter, {*n, *nrhs, a, *lda, b, *ldb, x, *ldx, work, swork}))     \
  CREEK_LAPACKE_FORM(                                                                              \
      x##gesv, ,                                                                                   \
      (int layout_number, blas_int n, blas_int nrhs, T* a, blas_int lda, blas_int* ipiv,           \
       const T* b, blas_int ldb, T* x, blas_int ldx, blas_int* iter),                              \
      true, false,                                                                                 \
      return c_gesv_mixed<T>(how, ipiv, iter,                                                      \
                             {n, nrhs, a, lda, b, ldb, x, ldx, nullptr, nullptr});)                \
  CREEK_LAPACKE_FORM(                                                                              \
      x##gesv, _work,                                                                              \
      (int layout_number, blas_int n, blas_int nrhs, T* a, blas_int lda, blas_int* ipiv,           \
       const T* b, blas_int ldb, T* x, blas_int ldx, T* work, S* swork, blas_int* iter),           \
      false, false,                                                                                \
      return c_gesv_mixed<T>(how, ipiv, iter, {n, nrhs, a, lda, b, ldb, x, ldx, work, swork});)    \
  CREEK_LAPACK(x##posv,                                                                            \
               (const char* uplo, in_int n, in_int nrhs, T* a, in_int lda, const T* b, in_int ldb, \
                T* x, in_int ldx, T* work, S* swork, blas_int* iter, blas_int* info),              \
               posv_mixed<T>(*uplo, iter, {*n, *nrhs, a, *lda, b, *ldb, x, *ldx, work, swork}))    \
  CREEK_LAPACKE_FORM(x##posv, ,                                                                    \
                     (int layout_number, char uplo, blas_int n, blas_int nrhs, T* a, blas_int lda, \
                      const T* b, blas_int ldb, T* x, blas_int ldx, blas_int* iter),               \
                     true, false,                                                                  \
                     return c_posv_mixed<T>(how, uplo, iter,                                       \
                                            {n, nrhs, a, lda, b, ldb, x, ldx, nullptr, nullptr});) \
  CREEK_LAPACKE_FORM(                                                                              \
      x##posv, _work,                                                                              \
      (int layout_number, char uplo, blas_int n, blas_int nrhs, T* a, blas_int lda, const T* b,    \
       blas_int ldb, T* x, blas_int ldx, T* work, S* swork, blas_int* iter),                       \
      false, false,                                                                                \
      return c_posv_mixed<T>(how, uplo, iter, {n, nrhs, a, lda, b, ldb, x, ldx, work, swork});)
CREEK_DEFINE(ds, double, float)
#undef CREEK_DEFINE

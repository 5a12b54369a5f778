// SPDX-License-Identifier: Apache-2.0
// getrf, getrs, gesv, getri, laswp.
#include <cstdlib>
#include <numeric>
#include <span>
#include <vector>

#include <creek/linalg/inverse.hpp>
#include <creek/linalg/lu.hpp>

#include "exports.hpp"
#include "pivot_list.hpp"
#include "workers.hpp"

namespace creek::lapack {
namespace {

double factor_flops(double m, double n) {
  const double least = std::min(m, n);
  return least * least * (std::max(m, n) - least / 3);
}

template <scalar T>
blas_int getrf(blas_int m, blas_int n, T* a, blas_int lda, blas_int* ipiv) {
  if (m < 0) return -1;
  if (n < 0) return -2;
  if (!holds(lda, m, n)) return -4;
  if (m == 0 || n == 0) return 0;
  pivot_list pivots(std::min(m, n));
  const index_t info = on_workers(cost<T>(factor_flops(m, n)), [&] {
    return linalg::getrf(matrix_view<T>(a, m, n, lda), pivots.span());
  });
  pivots.write(ipiv);
  return static_cast<blas_int>(info);
}

template <scalar T>
blas_int getrs(char trans, blas_int n, blas_int nrhs, const T* a, blas_int lda,
               const blas_int* ipiv, T* b, blas_int ldb) {
  const auto how = parse_op(trans);
  if (!how) return -1;
  if (n < 0) return -2;
  if (nrhs < 0) return -3;
  if (!holds(lda, n, n)) return -5;
  if (!holds(ldb, n, nrhs)) return -8;
  if (n == 0 || nrhs == 0) return 0;
  pivot_list pivots(ipiv, n);
  on_workers(cost<T>(2.0 * n * n * nrhs), [&] {
    linalg::getrs<T>(*how, const_view<T>(a, n, n, lda), pivots.span(),
                     matrix_view<T>(b, n, nrhs, ldb));
  });
  return 0;
}

template <scalar T>
blas_int gesv(blas_int n, blas_int nrhs, T* a, blas_int lda, blas_int* ipiv, T* b, blas_int ldb) {
  if (n < 0) return -1;
  if (nrhs < 0) return -2;
  if (!holds(lda, n, n)) return -4;
  if (!holds(ldb, n, nrhs)) return -7;
  if (n == 0) return 0;
  pivot_list pivots(n);
  const double flops = factor_flops(n, n) + 2.0 * n * n * nrhs;
  const index_t info = on_workers(cost<T>(flops), [&] {
    return linalg::gesv(matrix_view<T>(a, n, n, lda), pivots.span(),
                        matrix_view<T>(b, n, nrhs, ldb));
  });
  pivots.write(ipiv);
  return static_cast<blas_int>(info);
}

template <scalar T>
blas_int getri(blas_int n, T* a, blas_int lda, const blas_int* ipiv, const workspace<T>& space) {
  if (n < 0) return -1;
  if (!holds(lda, n, n)) return -3;
  if (!space.holds(n)) return -6;
  if (space.tell_length(64.0 * n, n) || n == 0) return 0;
  pivot_list pivots(ipiv, n);
  const index_t info = on_workers(cost<T>(4.0 / 3 * n * n * n), [&] {
    return linalg::getri(matrix_view<T>(a, n, n, lda), std::span<const index_t>(pivots.span()));
  });
  return static_cast<blas_int>(info);
}

/// Exchanges rows: element k1 of the list belongs to row k1, each element `incx` further to the
/// next row; backwards if incx is negative. Checks no arguments, like LAPACK.
template <scalar T>
int laswp(blas_int n, T* a, blas_int lda, blas_int k1, blas_int k2, const blas_int* ipiv,
          blas_int incx) {
  if (n <= 0 || k1 > k2 || incx == 0) return 0;
  pivot_list list(k2);
  const std::span<index_t> pivots = list.span();
  std::iota(pivots.begin(), pivots.end(), index_t{0});  // rows before k1 are not exchanged
  for (index_t i = k1; i <= k2; ++i) {
    const index_t place = k1 + (i - k1) * std::abs(index_t{incx});
    pivots[static_cast<std::size_t>(i - 1)] = index_t{ipiv[place - 1]} - 1;
  }
  on_workers(cost<T>(2.0 * n * (k2 - k1 + 1)), [&] {
    linalg::laswp(matrix_view<T>(a, lda, n, lda), std::span<const index_t>(pivots), incx < 0);
  });
  return 0;
}

template <scalar T>
blas_int c_getrf(const c_call& how, blas_int m, blas_int n, T* a, blas_int lda, blas_int* ipiv) {
  return c_interface(
      how, [&](const operand<T>& A) { return getrf(m, n, A.data, A.leading, ipiv); },
      operand<T>{a, m, n, lda, 4});
}

template <scalar T>
blas_int c_getrs(const c_call& how, char trans, blas_int n, blas_int nrhs, const T* a, blas_int lda,
                 const blas_int* ipiv, T* b, blas_int ldb) {
  return c_interface(
      how,
      [&](const operand<T>& A, const operand<T>& B) {
        return getrs<T>(trans, n, nrhs, A.data, A.leading, ipiv, B.data, B.leading);
      },
      read_only(a, n, n, lda, 5), operand<T>{b, n, nrhs, ldb, 8});
}

template <scalar T>
blas_int c_gesv(const c_call& how, blas_int n, blas_int nrhs, T* a, blas_int lda, blas_int* ipiv,
                T* b, blas_int ldb) {
  return c_interface(
      how,
      [&](const operand<T>& A, const operand<T>& B) {
        return gesv(n, nrhs, A.data, A.leading, ipiv, B.data, B.leading);
      },
      operand<T>{a, n, n, lda, 4}, operand<T>{b, n, nrhs, ldb, 7});
}

template <scalar T>
blas_int c_getri(const c_call& how, blas_int n, T* a, blas_int lda, const blas_int* ipiv,
                 const workspace<T>& space) {
  return c_interface(
      how, [&](const operand<T>& A) { return getri(n, A.data, A.leading, ipiv, space); },
      operand<T>{a, n, n, lda, 3});
}

/// Returns the number of rows, which is no argument: as many as the exchanges touch.
blas_int touched_rows(blas_int k1, blas_int k2, const blas_int* ipiv, blas_int incx) {
  blas_int rows = std::max<blas_int>(1, k2);
  for (index_t i = k1; i <= k2; ++i) {
    rows = std::max(rows, ipiv[k1 + (i - k1) * std::abs(index_t{incx}) - 1]);
  }
  return rows;
}

template <scalar T>
blas_int c_laswp(c_call how, blas_int n, T* a, blas_int lda, blas_int k1, blas_int k2,
                 const blas_int* ipiv, blas_int incx) {
  const auto exchange = [&](const operand<T>& A) {
    return laswp(n, A.data, A.leading, k1, k2, ipiv, incx);
  };
  const bool by_rows = how.given_layout == static_cast<int>(layout::rows);
  const blas_int rows = by_rows ? touched_rows(k1, k2, ipiv, incx) : 0;
  return c_interface(how, exchange, operand<T>{a, rows, n, lda, 3});
}

}  // namespace
}  // namespace creek::lapack

using namespace creek::lapack;

#define CREEK_DEFINE(x, T)                                                                         \
  CREEK_LAPACK(x##getrf,                                                                           \
               (in_int m, in_int n, T * a, in_int lda, blas_int * ipiv, blas_int * info),          \
               getrf(*m, *n, a, *lda, ipiv))                                                       \
  CREEK_LAPACKE(x##getrf,                                                                          \
                (int layout_number, blas_int m, blas_int n, T* a, blas_int lda, blas_int* ipiv),   \
                c_getrf(how, m, n, a, lda, ipiv))                                                  \
  CREEK_LAPACK(x##getrs,                                                                           \
               (const char* trans, in_int n, in_int nrhs, const T* a, in_int lda, in_int ipiv,     \
                T* b, in_int ldb, blas_int* info),                                                 \
               getrs(*trans, *n, *nrhs, a, *lda, ipiv, b, *ldb))                                   \
  CREEK_LAPACKE(x##getrs,                                                                          \
                (int layout_number, char trans, blas_int n, blas_int nrhs, const T* a,             \
                 blas_int lda, in_int ipiv, T* b, blas_int ldb),                                   \
                c_getrs(how, trans, n, nrhs, a, lda, ipiv, b, ldb))                                \
  CREEK_LAPACK(x##gesv,                                                                            \
               (in_int n, in_int nrhs, T * a, in_int lda, blas_int * ipiv, T * b, in_int ldb,      \
                blas_int * info),                                                                  \
               gesv(*n, *nrhs, a, *lda, ipiv, b, *ldb))                                            \
  CREEK_LAPACKE(x##gesv,                                                                           \
                (int layout_number, blas_int n, blas_int nrhs, T* a, blas_int lda, blas_int* ipiv, \
                 T* b, blas_int ldb),                                                              \
                c_gesv(how, n, nrhs, a, lda, ipiv, b, ldb))                                        \
  CREEK_LAPACK(                                                                                    \
      x##getri,                                                                                    \
      (in_int n, T * a, in_int lda, in_int ipiv, T * work, in_int lwork, blas_int * info),         \
      getri(*n, a, *lda, ipiv, workspace<T>(work, *lwork)))                                        \
  CREEK_LAPACKE_WITH_WORK(x##getri, T,                                                             \
                          (int layout_number, blas_int n, T* a, blas_int lda, in_int ipiv),        \
                          c_getri(how, n, a, lda, ipiv, space))                                    \
  CREEK_BLAS(x##laswp,                                                                             \
             (in_int n, T * a, in_int lda, in_int k1, in_int k2, in_int ipiv, in_int incx),        \
             laswp(*n, a, *lda, *k1, *k2, ipiv, *incx))                                            \
  CREEK_LAPACKE(x##laswp,                                                                          \
                (int layout_number, blas_int n, T* a, blas_int lda, blas_int k1, blas_int k2,      \
                 in_int ipiv, blas_int incx),                                                      \
                c_laswp(how, n, a, lda, k1, k2, ipiv, incx))
CREEK_FOR_EACH_SCALAR(CREEK_DEFINE)
#undef CREEK_DEFINE

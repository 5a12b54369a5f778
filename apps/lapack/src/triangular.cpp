// SPDX-License-Identifier: Apache-2.0
// trmm, trsm, trtrs, trtri.
#include <creek/linalg/blas3.hpp>
#include <creek/linalg/inverse.hpp>

#include "exports.hpp"
#include "workers.hpp"

namespace creek::lapack {
namespace {

/// Arguments of trmm and trsm.
template <scalar T>
struct product_with_triangle {
  layout order;
  char where, stored, how, ones;
  blas_int m, n;
  T alpha;
  const T* a;
  blas_int lda;
  T* b;
  blas_int ldb;

  /// Returns the first bad argument's position in Fortran's list, or 0.
  int bad_argument() const {
    const auto side_of_a = parse_side(where);
    if (!side_of_a) return 1;
    if (!parse_triangle(stored)) return 2;
    if (!parse_op(how)) return 3;
    if (!parse_diagonal(ones)) return 4;
    if (m < 0) return 5;
    if (n < 0) return 6;
    const blas_int of_a = *side_of_a == side::left ? m : n;
    if (!holds(lda, of_a, of_a)) return 9;
    return holds(ldb, m, n, order) ? 0 : 11;
  }

  /// Calls f with the arguments of linalg::trmm and trsm. Rows of B are columns of its transpose,
  /// which the transpose of A multiplies from the other side.
  template <class F>
  int run(F f) const {
    if (const int bad = bad_argument()) return bad;
    if (m == 0 || n == 0) return 0;
    const bool turned = order == layout::rows;
    const bool left = (*parse_side(where) == side::left) != turned;
    const bool lower = (*parse_triangle(stored) == triangle::lower) != turned;
    const matrix_view<T> B(b, turned ? n : m, turned ? m : n, ldb);
    const index_t of_a = left ? B.rows() : B.cols();
    const double flops =
        static_cast<double>(B.rows()) * static_cast<double>(B.cols()) * static_cast<double>(of_a);
    on_workers(alpha == T{} ? 0 : cost<T>(flops), [&] {
      f(left ? side::left : side::right, lower ? triangle::lower : triangle::upper, *parse_op(how),
        *parse_diagonal(ones), alpha, const_view<T>(a, of_a, of_a, lda), B);
    });
    return 0;
  }
};

template <scalar T>
int trmm(const product_with_triangle<T>& given) {
  return given.run([](const auto&... each) { linalg::trmm<T>(each...); });
}
template <scalar T>
int trsm(const product_with_triangle<T>& given) {
  return given.run([](const auto&... each) { linalg::trsm<T>(each...); });
}

template <scalar T>
blas_int trtrs(char uplo, char trans, char diag, blas_int n, blas_int nrhs, const T* a,
               blas_int lda, T* b, blas_int ldb) {
  const auto stored = parse_triangle(uplo);
  const auto how = parse_op(trans);
  const auto ones = parse_diagonal(diag);
  if (!stored) return -1;
  if (!how) return -2;
  if (!ones) return -3;
  if (n < 0) return -4;
  if (nrhs < 0) return -5;
  if (!holds(lda, n, n)) return -7;
  if (!holds(ldb, n, nrhs)) return -9;
  const const_view<T> A(a, n, n, lda);
  for (blas_int i = 0; *ones == diagonal::stored && i < n; ++i) {
    if (A(i, i) == T{}) return i + 1;
  }
  if (n == 0 || nrhs == 0) return 0;
  on_workers(cost<T>(1.0 * n * n * nrhs), [&] {
    linalg::trsm<T>(side::left, *stored, *how, *ones, T{1}, A, matrix_view<T>(b, n, nrhs, ldb));
  });
  return 0;
}

template <scalar T>
blas_int trtri(char uplo, char diag, blas_int n, T* a, blas_int lda) {
  const auto stored = parse_triangle(uplo);
  const auto ones = parse_diagonal(diag);
  if (!stored) return -1;
  if (!ones) return -2;
  if (n < 0) return -3;
  if (!holds(lda, n, n)) return -5;
  if (n == 0) return 0;
  const index_t info = on_workers(cost<T>(1.0 / 3 * n * n * n), [&] {
    return linalg::trtri(*stored, *ones, matrix_view<T>(a, n, n, lda));
  });
  return static_cast<blas_int>(info);
}

template <scalar T>
blas_int c_trtrs(const c_call& called, char uplo, char trans, char diag, blas_int n, blas_int nrhs,
                 const T* a, blas_int lda, T* b, blas_int ldb) {
  return c_interface(
      called,
      [&](const operand<T>& A, const operand<T>& B) {
        return trtrs<T>(uplo, trans, diag, n, nrhs, A.data, A.leading, B.data, B.leading);
      },
      read_only(a, n, n, lda, 7, region::of_triangle(uplo, diag)), operand<T>{b, n, nrhs, ldb, 9});
}

template <scalar T>
blas_int c_trtri(const c_call& how, char uplo, char diag, blas_int n, T* a, blas_int lda) {
  return c_interface(
      how, [&](const operand<T>& A) { return trtri(uplo, diag, n, A.data, A.leading); },
      operand<T>{a, n, n, lda, 5, region::of_triangle(uplo, diag)});
}

}  // namespace
}  // namespace creek::lapack

using namespace creek::lapack;

#define CREEK_DEFINE_PRODUCT(ROUTINE, KIND, T)                                                    \
  CREEK_BLAS(                                                                                     \
      ROUTINE,                                                                                    \
      (const char* where, const char* uplo, const char* trans, const char* diag, in_int m,        \
       in_int n, const T* alpha, const T* a, in_int lda, T* b, in_int ldb),                       \
      KIND<T>({layout::columns, *where, *uplo, *trans, *diag, *m, *n, *alpha, a, *lda, b, *ldb})) \
  CREEK_CBLAS(ROUTINE,                                                                            \
              (int layout_number, int where, int uplo, int trans, int diag, blas_int m,           \
               blas_int n, c_scalar<T> alpha, const T* a, blas_int lda, T* b, blas_int ldb),      \
              KIND<T>({order, side_letter(where), triangle_letter(uplo), op_letter(trans),        \
                       diagonal_letter(diag), m, n, value_of<T>(alpha), a, lda, b, ldb}))

#define CREEK_DEFINE(x, T)                                                                       \
  CREEK_DEFINE_PRODUCT(x##trmm, trmm, T)                                                         \
  CREEK_DEFINE_PRODUCT(x##trsm, trsm, T)                                                         \
  CREEK_LAPACK(x##trtrs,                                                                         \
               (const char* uplo, const char* trans, const char* diag, in_int n, in_int nrhs,    \
                const T* a, in_int lda, T* b, in_int ldb, blas_int* info),                       \
               trtrs(*uplo, *trans, *diag, *n, *nrhs, a, *lda, b, *ldb))                         \
  CREEK_LAPACKE(x##trtrs,                                                                        \
                (int layout_number, char uplo, char trans, char diag, blas_int n, blas_int nrhs, \
                 const T* a, blas_int lda, T* b, blas_int ldb),                                  \
                c_trtrs(how, uplo, trans, diag, n, nrhs, a, lda, b, ldb))                        \
  CREEK_LAPACK(x##trtri,                                                                         \
               (const char* uplo, const char* diag, in_int n, T* a, in_int lda, blas_int* info), \
               trtri(*uplo, *diag, *n, a, *lda))                                                 \
  CREEK_LAPACKE(x##trtri,                                                                        \
                (int layout_number, char uplo, char diag, blas_int n, T* a, blas_int lda),       \
                c_trtri(how, uplo, diag, n, a, lda))
CREEK_FOR_EACH_SCALAR(CREEK_DEFINE)
#undef CREEK_DEFINE_PRODUCT
#undef CREEK_DEFINE

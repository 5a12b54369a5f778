// SPDX-License-Identifier: Apache-2.0
// gemm, symm, hemm.
#include <utility>

#include <creek/linalg/blas3.hpp>

#include "exports.hpp"
#include "product_shape.hpp"
#include "workers.hpp"

namespace creek::lapack {
namespace {

double flops_of(blas_int m, blas_int n, blas_int k) {
  return 2.0 * m * n * k;
}

/// Computes C = alpha op(A) op(B) + beta C. Returns the first bad argument's position in Fortran's
/// list, or 0.
template <scalar T>
int gemm(layout order, char how_a, char how_b, blas_int m, blas_int n, blas_int k, T alpha,
         const T* a, blas_int lda, const T* b, blas_int ldb, T beta, T* c, blas_int ldc) {
  product_shape shape;
  if (const int bad = shape.read(order, how_a, how_b, m, n, k, lda, ldb, ldc)) return bad;
  if (shape.is_exchanged) std::swap(a, b);
  if (alpha == T{}) shape.k = 0;  // A and B are not read
  if (shape.is_empty() || (shape.k == 0 && beta == T{1})) return 0;
  on_workers(cost<T>(shape.flops()), [&] {
    linalg::gemm<T>(shape.how_a, shape.how_b, alpha,
                    const_view<T>(a, shape.rows_a(), shape.cols_a(), shape.lda),
                    const_view<T>(b, shape.rows_b(), shape.cols_b(), shape.ldb), beta,
                    matrix_view<T>(c, shape.m, shape.n, shape.ldc));
  });
  return 0;
}

/// Arguments of symm and hemm.
template <scalar T>
struct product_with_symmetric {
  layout order;
  char where, stored;
  blas_int m, n;
  T alpha;
  const T* a;
  blas_int lda;
  const T* b;
  blas_int ldb;
  T beta;
  T* c;
  blas_int ldc;

  int bad_argument() const {
    const auto side_of_a = parse_side(where);
    if (!side_of_a) return 1;
    if (!parse_triangle(stored)) return 2;
    if (m < 0) return 3;
    if (n < 0) return 4;
    const blas_int of_a = *side_of_a == side::left ? m : n;
    if (!holds(lda, of_a, of_a)) return 7;
    if (!holds(ldb, m, n, order)) return 9;
    return holds(ldc, m, n, order) ? 0 : 12;
  }

  /// Calls f with the arguments of linalg::symm and hemm; see product_with_triangle.
  template <class F>
  int run(F f) const {
    if (const int bad = bad_argument()) return bad;
    if (m == 0 || n == 0 || (alpha == T{} && beta == T{1})) return 0;
    const bool turned = order == layout::rows;
    const bool left = (*parse_side(where) == side::left) != turned;
    const bool lower = (*parse_triangle(stored) == triangle::lower) != turned;
    const blas_int rows = turned ? n : m;
    const blas_int cols = turned ? m : n;
    const blas_int of_a = left ? rows : cols;
    on_workers(alpha == T{} ? 0 : cost<T>(flops_of(rows, cols, of_a)), [&] {
      f(left ? side::left : side::right, lower ? triangle::lower : triangle::upper, alpha,
        const_view<T>(a, of_a, of_a, lda), const_view<T>(b, rows, cols, ldb), beta,
        matrix_view<T>(c, rows, cols, ldc));
    });
    return 0;
  }
};

template <scalar T>
int symm(const product_with_symmetric<T>& given) {
  return given.run([](const auto&... each) { linalg::symm<T>(each...); });
}
template <scalar T>
int hemm(const product_with_symmetric<T>& given) {
  return given.run([](const auto&... each) { linalg::hemm<T>(each...); });
}

}  // namespace
}  // namespace creek::lapack

using namespace creek::lapack;

#define CREEK_DEFINE_SYMMETRIC(ROUTINE, KIND, T)                                                   \
  CREEK_BLAS(                                                                                      \
      ROUTINE,                                                                                     \
      (const char* where, const char* uplo, in_int m, in_int n, const T* alpha, const T* a,        \
       in_int lda, const T* b, in_int ldb, const T* beta, T* c, in_int ldc),                       \
      KIND<T>({layout::columns, *where, *uplo, *m, *n, *alpha, a, *lda, b, *ldb, *beta, c, *ldc})) \
  CREEK_CBLAS(                                                                                     \
      ROUTINE,                                                                                     \
      (int layout_number, int where, int uplo, blas_int m, blas_int n, c_scalar<T> alpha,          \
       const T* a, blas_int lda, const T* b, blas_int ldb, c_scalar<T> beta, T* c, blas_int ldc),  \
      KIND<T>({order, side_letter(where), triangle_letter(uplo), m, n, value_of<T>(alpha), a, lda, \
               b, ldb, value_of<T>(beta), c, ldc}))

#define CREEK_DEFINE(x, T)                                                                         \
  CREEK_BLAS(x##gemm,                                                                              \
             (const char* how_a, const char* how_b, in_int m, in_int n, in_int k, const T* alpha,  \
              const T* a, in_int lda, const T* b, in_int ldb, const T* beta, T* c, in_int ldc),    \
             gemm<T>(layout::columns, *how_a, *how_b, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, \
                     c, *ldc))                                                                     \
  CREEK_CBLAS(x##gemm,                                                                             \
              (int layout_number, int how_a, int how_b, blas_int m, blas_int n, blas_int k,        \
               c_scalar<T> alpha, const T* a, blas_int lda, const T* b, blas_int ldb,              \
               c_scalar<T> beta, T* c, blas_int ldc),                                              \
              gemm<T>(order, op_letter(how_a), op_letter(how_b), m, n, k, value_of<T>(alpha), a,   \
                      lda, b, ldb, value_of<T>(beta), c, ldc))                                     \
  CREEK_DEFINE_SYMMETRIC(x##symm, symm, T)
CREEK_FOR_EACH_SCALAR(CREEK_DEFINE)

#define CREEK_DEFINE_HERMITIAN(x, T) CREEK_DEFINE_SYMMETRIC(x##hemm, hemm, T)
CREEK_FOR_EACH_COMPLEX(CREEK_DEFINE_HERMITIAN)
#undef CREEK_DEFINE_HERMITIAN
#undef CREEK_DEFINE_SYMMETRIC
#undef CREEK_DEFINE

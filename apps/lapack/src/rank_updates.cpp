// SPDX-License-Identifier: Apache-2.0
// syrk, herk, syr2k, her2k.
#include <creek/linalg/blas3.hpp>

#include "exports.hpp"
#include "workers.hpp"

namespace creek::lapack {
namespace {

/// The result C is symmetric or Hermitian; for real numbers both are the same.
enum class kind { symmetric, hermitian };

/// The arguments that all of them have; A and B have one shape.
struct update_shape {
  layout order;
  char stored, how;
  blas_int n, k;

  /// Parses Fortran's letters: a real C^T is a C^H, a complex one is not.
  template <scalar T, kind Kind>
  std::optional<op> product() const {
    const auto given = parse_op(how);
    if (!given || *given == op::none || !is_complex<T>) return given;
    const bool conjugates = *given == op::conjugate_transpose;
    return conjugates == (Kind == kind::hermitian) ? given : std::nullopt;
  }
  template <scalar T, kind Kind>
  int bad_argument() const {
    if (!parse_triangle(stored)) return 1;
    if (!product<T, Kind>()) return 2;
    if (n < 0) return 3;
    return k < 0 ? 4 : 0;
  }
  bool holds_factor(blas_int leading) const {
    const bool plain = *parse_op(how) == op::none;
    return holds(leading, plain ? n : k, plain ? k : n, order);
  }

  // The triangle by columns, as linalg needs it: row-major factors are transposed already.
  triangle columns_triangle() const {
    const bool lower = *parse_triangle(stored) == triangle::lower;
    return lower != (order == layout::rows) ? triangle::lower : triangle::upper;
  }
  template <scalar T, kind Kind>
  op columns_op() const {
    const bool plain = (*parse_op(how) == op::none) != (order == layout::rows);
    if (plain) return op::none;
    return Kind == kind::hermitian && is_complex<T> ? op::conjugate_transpose : op::transpose;
  }
  template <scalar T>
  const_view<T> factor(const T* data, op columns, blas_int depth, blas_int leading) const {
    const bool plain = columns == op::none;
    return {data, plain ? n : depth, plain ? depth : n, leading};
  }
};

/// Type of a scalar, real if C is Hermitian.
template <scalar T, kind Kind>
using scale_of = std::conditional_t<Kind == kind::hermitian, real<T>, T>;

/// Runs syrk and herk. Returns the first bad argument's position in Fortran's list, or 0.
template <scalar T, kind Kind>
int rank_k(update_shape shape, scale_of<T, Kind> alpha, const T* a, blas_int lda,
           scale_of<T, Kind> beta, T* c, blas_int ldc) {
  if (const int bad = shape.bad_argument<T, Kind>()) return bad;
  if (!shape.holds_factor(lda)) return 7;
  if (!holds(ldc, shape.n, shape.n)) return 10;
  const blas_int n = shape.n;
  const blas_int depth = alpha == scale_of<T, Kind>{} ? 0 : shape.k;
  if (n == 0 || (depth == 0 && beta == scale_of<T, Kind>{1})) return 0;
  const op how = shape.columns_op<T, Kind>();
  const const_view<T> A = shape.factor(a, how, depth, lda);
  const matrix_view<T> C(c, n, n, ldc);
  on_workers(cost<T>(1.0 * n * n * depth), [&] {
    if constexpr (Kind == kind::hermitian) {
      linalg::herk<T>(shape.columns_triangle(), how, alpha, A, beta, C);
    } else {
      linalg::syrk<T>(shape.columns_triangle(), how, alpha, A, beta, C);
    }
  });
  return 0;
}

/// Runs syr2k and her2k. Returns the first bad argument's position, or 0.
template <scalar T, kind Kind>
int rank_2k(update_shape shape, T alpha, const T* a, blas_int lda, const T* b, blas_int ldb,
            scale_of<T, Kind> beta, T* c, blas_int ldc) {
  if (const int bad = shape.bad_argument<T, Kind>()) return bad;
  if (!shape.holds_factor(lda)) return 7;
  if (!shape.holds_factor(ldb)) return 9;
  if (!holds(ldc, shape.n, shape.n)) return 12;
  const blas_int n = shape.n;
  const blas_int depth = alpha == T{} ? 0 : shape.k;
  if (n == 0 || (depth == 0 && beta == scale_of<T, Kind>{1})) return 0;
  const op how = shape.columns_op<T, Kind>();
  const const_view<T> A = shape.factor(a, how, depth, lda);
  const const_view<T> B = shape.factor(b, how, depth, ldb);
  const matrix_view<T> C(c, n, n, ldc);
  on_workers(cost<T>(2.0 * n * n * depth), [&] {
    if constexpr (Kind == kind::hermitian) {
      // The transpose of alpha A B^H is alpha conj(B) A^T, so alpha belongs to the other term.
      const T first = shape.order == layout::rows ? std::conj(alpha) : alpha;
      linalg::her2k<T>(shape.columns_triangle(), how, first, A, B, beta, C);
    } else {
      linalg::syr2k<T>(shape.columns_triangle(), how, alpha, A, B, beta, C);
    }
  });
  return 0;
}

}  // namespace
}  // namespace creek::lapack

using namespace creek::lapack;

/// S is the type of alpha and beta.
#define CREEK_DEFINE_RANK_K(ROUTINE, KIND, T, S)                                                   \
  CREEK_BLAS(ROUTINE,                                                                              \
             (const char* uplo, const char* trans, in_int n, in_int k, const S* alpha, const T* a, \
              in_int lda, const S* beta, T* c, in_int ldc),                                        \
             (rank_k<T, KIND>({layout::columns, *uplo, *trans, *n, *k}, *alpha, a, *lda, *beta, c, \
                              *ldc)))                                                              \
  CREEK_CBLAS(ROUTINE,                                                                             \
              (int layout_number, int uplo, int trans, blas_int n, blas_int k, c_scalar<S> alpha,  \
               const T* a, blas_int lda, c_scalar<S> beta, T* c, blas_int ldc),                    \
              (rank_k<T, KIND>({order, triangle_letter(uplo), op_letter(trans), n, k},             \
                               value_of<S>(alpha), a, lda, value_of<S>(beta), c, ldc)))

/// S is the type of beta.
#define CREEK_DEFINE_RANK_2K(ROUTINE, KIND, T, S)                                                  \
  CREEK_BLAS(ROUTINE,                                                                              \
             (const char* uplo, const char* trans, in_int n, in_int k, const T* alpha, const T* a, \
              in_int lda, const T* b, in_int ldb, const S* beta, T* c, in_int ldc),                \
             (rank_2k<T, KIND>({layout::columns, *uplo, *trans, *n, *k}, *alpha, a, *lda, b, *ldb, \
                               *beta, c, *ldc)))                                                   \
  CREEK_CBLAS(                                                                                     \
      ROUTINE,                                                                                     \
      (int layout_number, int uplo, int trans, blas_int n, blas_int k, c_scalar<T> alpha,          \
       const T* a, blas_int lda, const T* b, blas_int ldb, c_scalar<S> beta, T* c, blas_int ldc),  \
      (rank_2k<T, KIND>({order, triangle_letter(uplo), op_letter(trans), n, k},                    \
                        value_of<T>(alpha), a, lda, b, ldb, value_of<S>(beta), c, ldc)))

#define CREEK_DEFINE(x, T)                            \
  CREEK_DEFINE_RANK_K(x##syrk, kind::symmetric, T, T) \
  CREEK_DEFINE_RANK_2K(x##syr2k, kind::symmetric, T, T)
CREEK_FOR_EACH_SCALAR(CREEK_DEFINE)

#define CREEK_DEFINE_HERMITIAN(x, T)                        \
  CREEK_DEFINE_RANK_K(x##herk, kind::hermitian, T, real<T>) \
  CREEK_DEFINE_RANK_2K(x##her2k, kind::hermitian, T, real<T>)
CREEK_FOR_EACH_COMPLEX(CREEK_DEFINE_HERMITIAN)
#undef CREEK_DEFINE_HERMITIAN
#undef CREEK_DEFINE_RANK_2K
#undef CREEK_DEFINE_RANK_K
#undef CREEK_DEFINE

// SPDX-License-Identifier: Apache-2.0
// geqrf; ormqr and orgqr, for complex numbers unmqr and ungqr; gels.
#include <creek/linalg/qr.hpp>

#include <span>

#include "qr_work.hpp"
#include "workers.hpp"

namespace creek::lapack {
namespace {

template <scalar T>
blas_int geqrf(blas_int m, blas_int n, T* a, blas_int lda, T* tau, const workspace<T>& space) {
  if (m < 0) return -1;
  if (n < 0) return -2;
  if (!holds(lda, m, n)) return -4;
  if (!space.holds(m == 0 ? 1 : n)) return -7;
  const blas_int k = std::min(m, n);
  if (space.tell_length(k == 0 ? 1 : lapack_block * n, n) || k == 0) return 0;
  on_workers(cost<T>(qr_flops(m, n)), [&] {
    linalg::geqrf(matrix_view<T>(a, m, n, lda), std::span(tau, static_cast<std::size_t>(k)));
  });
  return 0;
}

template <scalar T>
blas_int ormqr(char where, char trans, blas_int m, blas_int n, blas_int k, const T* a, blas_int lda,
               const T* tau, T* c, blas_int ldc, const workspace<T>& space) {
  const auto on = parse_side(where);
  const auto how = parse_adjoint<T>(trans);
  if (!on) return -1;
  if (!how) return -2;
  if (m < 0) return -3;
  if (n < 0) return -4;
  const bool left = *on == side::left;
  const blas_int order = left ? m : n, width = left ? n : m;
  if (k < 0 || k > order) return -5;
  if (!holds(lda, order, k)) return -7;
  if (!holds(ldc, m, n)) return -10;
  if (!space.holds(width)) return -12;
  constexpr double triangle_of_block = 65 * 64;  // LAPACK keeps this there, too
  const bool nothing = m == 0 || n == 0 || k == 0;
  if (space.tell_length(lapack_block * width + triangle_of_block, width) || nothing) return 0;
  on_workers(cost<T>(reflector_flops(order, width, k)), [&] {
    linalg::ormqr(*on, *how, const_view<T>(a, order, k, lda),
                  std::span(tau, static_cast<std::size_t>(k)), matrix_view<T>(c, m, n, ldc));
  });
  return 0;
}

template <scalar T>
blas_int orgqr(blas_int m, blas_int n, blas_int k, T* a, blas_int lda, const T* tau,
               const workspace<T>& space) {
  if (m < 0) return -1;
  if (n < 0 || n > m) return -2;
  if (k < 0 || k > n) return -3;
  if (!holds(lda, m, n)) return -5;
  if (!space.holds(n)) return -8;
  if (space.tell_length(lapack_block * n, n) || n == 0) return 0;
  on_workers(cost<T>(reflector_flops(m, n, k)), [&] {
    linalg::orgqr(matrix_view<T>(a, m, n, lda), std::span(tau, static_cast<std::size_t>(k)));
  });
  return 0;
}

template <scalar T>
blas_int gels(char trans, blas_int m, blas_int n, blas_int nrhs, T* a, blas_int lda, T* b,
              blas_int ldb, const workspace<T>& space) {
  const auto how = parse_adjoint<T>(trans);
  if (!how) return -1;
  if (m < 0) return -2;
  if (n < 0) return -3;
  if (nrhs < 0) return -4;
  if (!holds(lda, m, n)) return -6;
  const blas_int least = std::min(m, n), most = std::max(m, n);
  if (!holds(ldb, most, nrhs)) return -8;
  const index_t columns = std::max(least, nrhs), space_needed = least + columns;
  if (!space.holds(space_needed)) return -10;
  const double best = least + lapack_block * static_cast<double>(columns);
  if (space.tell_length(best, space_needed) || nrhs == 0) return 0;
  const double flops = qr_flops(m, n) + 2 * reflector_flops(most, nrhs, least);
  const index_t info = on_workers(cost<T>(flops), [&] {
    return linalg::gels(*how, matrix_view<T>(a, m, n, lda), matrix_view<T>(b, most, nrhs, ldb));
  });
  return static_cast<blas_int>(info);
}

template <scalar T>
blas_int c_ormqr(const c_call& how, char where, char trans, blas_int m, blas_int n, blas_int k,
                 const T* a, blas_int lda, const T* tau, T* c, blas_int ldc,
                 const workspace<T>& space) {
  const blas_int order = parse_side(where) == side::left ? m : n;
  return c_interface(
      how,
      [&](const operand<T>& A, const operand<T>& C, const operand<T>& t) {
        return ormqr<T>(where, trans, m, n, k, A.data, A.leading, t.data, C.data, C.leading, space);
      },
      read_only(a, order, k, lda, 7), operand<T>{c, m, n, ldc, 10},
      read_only_vector(how.given_layout, tau, k, 9));
}

template <scalar T>
blas_int c_gels(const c_call& how, char trans, blas_int m, blas_int n, blas_int nrhs, T* a,
                blas_int lda, T* b, blas_int ldb, const workspace<T>& space) {
  return c_interface(
      how,
      [&](const operand<T>& A, const operand<T>& B) {
        return gels(trans, m, n, nrhs, A.data, A.leading, B.data, B.leading, space);
      },
      operand<T>{a, m, n, lda, 6}, operand<T>{b, std::max(m, n), nrhs, ldb, 8});
}

}  // namespace
}  // namespace creek::lapack

using namespace creek::lapack;

#define CREEK_DEFINE(x, T)                                                                       \
  CREEK_DEFINE_FACTORIZATION(x, T, geqrf)                                                        \
  CREEK_LAPACK(x##gels,                                                                          \
               (const char* trans, in_int m, in_int n, in_int nrhs, T* a, in_int lda, T* b,      \
                in_int ldb, T* work, in_int lwork, blas_int* info),                              \
               gels(*trans, *m, *n, *nrhs, a, *lda, b, *ldb, workspace<T>(work, *lwork)))        \
  CREEK_LAPACKE_WITH_WORK(x##gels, T,                                                            \
                          (int layout_number, char trans, blas_int m, blas_int n, blas_int nrhs, \
                           T* a, blas_int lda, T* b, blas_int ldb),                              \
                          c_gels(how, trans, m, n, nrhs, a, lda, b, ldb, space))
CREEK_FOR_EACH_SCALAR(CREEK_DEFINE)
#undef CREEK_DEFINE

// Defines the routines of Q, which is orthogonal or unitary.
#define CREEK_DEFINE_Q(GROUP, T)                                                                   \
  CREEK_LAPACK(                                                                                    \
      GROUP##mqr,                                                                                  \
      (const char* where, const char* trans, in_int m, in_int n, in_int k, const T* a, in_int lda, \
       const T* tau, T* c, in_int ldc, T* work, in_int lwork, blas_int* info),                     \
      ormqr(*where, *trans, *m, *n, *k, a, *lda, tau, c, *ldc, workspace<T>(work, *lwork)))        \
  CREEK_LAPACKE_WITH_WORK(                                                                         \
      GROUP##mqr, T,                                                                               \
      (int layout_number, char where, char trans, blas_int m, blas_int n, blas_int k, const T* a,  \
       blas_int lda, const T* tau, T* c, blas_int ldc),                                            \
      c_ormqr(how, where, trans, m, n, k, a, lda, tau, c, ldc, space))                             \
  CREEK_DEFINE_GENERATION(GROUP##gqr, T, orgqr)
CREEK_DEFINE_Q(sor, float)
CREEK_DEFINE_Q(dor, double)
CREEK_DEFINE_Q(cun, std::complex<float>)
CREEK_DEFINE_Q(zun, std::complex<double>)
#undef CREEK_DEFINE_Q

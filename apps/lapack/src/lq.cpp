// SPDX-License-Identifier: Apache-2.0
// gelqf; orglq, for complex numbers unglq. Products with Q (ormlq) of small matrices are not faster
// than by other libraries, and are left to these.
#include <creek/linalg/qr.hpp>

#include <span>

#include "exports.hpp"
#include "qr_work.hpp"
#include "workers.hpp"

namespace creek::lapack {
namespace {

template <scalar T>
blas_int gelqf(blas_int m, blas_int n, T* a, blas_int lda, T* tau, const workspace<T>& space) {
  if (m < 0) return -1;
  if (n < 0) return -2;
  if (!holds(lda, m, n)) return -4;
  if (!space.holds(m)) return -7;
  const blas_int k = std::min(m, n);
  if (space.tell_length(lapack_block * m, m) || k == 0) return 0;
  on_workers(cost<T>(qr_flops(m, n)), [&] {
    linalg::gelqf(matrix_view<T>(a, m, n, lda), std::span(tau, static_cast<std::size_t>(k)));
  });
  return 0;
}

template <scalar T>
blas_int orglq(blas_int m, blas_int n, blas_int k, T* a, blas_int lda, const T* tau,
               const workspace<T>& space) {
  if (m < 0) return -1;
  if (n < m) return -2;
  if (k < 0 || k > m) return -3;
  if (!holds(lda, m, n)) return -5;
  if (!space.holds(m)) return -8;
  if (space.tell_length(lapack_block * m, m) || m == 0) return 0;
  on_workers(cost<T>(reflector_flops(n, m, k)), [&] {
    linalg::orglq(matrix_view<T>(a, m, n, lda), std::span(tau, static_cast<std::size_t>(k)));
  });
  return 0;
}

template <scalar T>
blas_int c_gelqf(const c_call& how, blas_int m, blas_int n, T* a, blas_int lda, T* tau,
                 const workspace<T>& space) {
  return c_interface(
      how, [&](const operand<T>& A) { return gelqf(m, n, A.data, A.leading, tau, space); },
      operand<T>{a, m, n, lda, 4});
}

template <scalar T>
blas_int c_orglq(const c_call& how, blas_int m, blas_int n, blas_int k, T* a, blas_int lda,
                 const T* tau, const workspace<T>& space) {
  return c_interface(
      how,
      [&](const operand<T>& A, const operand<T>& t) {
        return orglq<T>(m, n, k, A.data, A.leading, t.data, space);
      },
      operand<T>{a, m, n, lda, 5}, read_only_vector(how.given_layout, tau, k, 7));
}

}  // namespace
}  // namespace creek::lapack

using namespace creek::lapack;

#define CREEK_DEFINE(x, T)                                                                         \
  CREEK_LAPACK(                                                                                    \
      x##gelqf,                                                                                    \
      (in_int m, in_int n, T * a, in_int lda, T * tau, T * work, in_int lwork, blas_int * info),   \
      gelqf(*m, *n, a, *lda, tau, workspace<T>(work, *lwork)))                                     \
  CREEK_LAPACKE_WITH_WORK(x##gelqf, T,                                                             \
                          (int layout_number, blas_int m, blas_int n, T* a, blas_int lda, T* tau), \
                          c_gelqf(how, m, n, a, lda, tau, space))
CREEK_FOR_EACH_SCALAR(CREEK_DEFINE)
#undef CREEK_DEFINE

// Defines the routine of Q, which is orthogonal or unitary.
#define CREEK_DEFINE_Q(GROUP, T)                                                                 \
  CREEK_LAPACK(GROUP##glq,                                                                       \
               (in_int m, in_int n, in_int k, T * a, in_int lda, const T* tau, T* work,          \
                in_int lwork, blas_int* info),                                                   \
               orglq(*m, *n, *k, a, *lda, tau, workspace<T>(work, *lwork)))                      \
  CREEK_LAPACKE_WITH_WORK(                                                                       \
      GROUP##glq, T,                                                                             \
      (int layout_number, blas_int m, blas_int n, blas_int k, T* a, blas_int lda, const T* tau), \
      c_orglq(how, m, n, k, a, lda, tau, space))
CREEK_DEFINE_Q(sor, float)
CREEK_DEFINE_Q(dor, double)
CREEK_DEFINE_Q(cun, std::complex<float>)
CREEK_DEFINE_Q(zun, std::complex<double>)
#undef CREEK_DEFINE_Q

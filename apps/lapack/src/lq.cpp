// SPDX-License-Identifier: Apache-2.0
// gelqf; orglq, for complex numbers unglq. Products with Q (ormlq) of small matrices are not faster
// than by other libraries, and are left to these.
#include <creek/linalg/qr.hpp>

#include <span>

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

}  // namespace
}  // namespace creek::lapack

using namespace creek::lapack;

#define CREEK_DEFINE(x, T) CREEK_DEFINE_FACTORIZATION(x, T, gelqf)
CREEK_FOR_EACH_SCALAR(CREEK_DEFINE)
#undef CREEK_DEFINE

CREEK_DEFINE_GENERATION(sorglq, float, orglq)
CREEK_DEFINE_GENERATION(dorglq, double, orglq)
CREEK_DEFINE_GENERATION(cunglq, std::complex<float>, orglq)
CREEK_DEFINE_GENERATION(zunglq, std::complex<double>, orglq)

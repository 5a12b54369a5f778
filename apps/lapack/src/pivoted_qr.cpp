// SPDX-License-Identifier: Apache-2.0
// geqp3.
#include <creek/linalg/qr.hpp>

#include <algorithm>
#include <span>

#include "qr_work.hpp"
#include "short_array.hpp"
#include "workers.hpp"

namespace creek::lapack {
namespace {

/// Moves the columns that are not zero in `jpvt` to the front; jpvt becomes the columns' numbers.
/// Returns the number of those moved.
template <scalar T>
index_t move_fixed_to_front(matrix_view<T> A, blas_int* jpvt) {
  index_t fixed = 0;
  for (index_t j = 0; j < A.cols(); ++j) {
    const bool is_fixed = jpvt[j] != 0;
    jpvt[j] = static_cast<blas_int>(j + 1);
    if (!is_fixed) continue;
    if (j != fixed) {
      std::swap_ranges(A.column(j), A.column(j) + A.rows(), A.column(fixed));
      std::swap(jpvt[j], jpvt[fixed]);
    }
    ++fixed;
  }
  return fixed;
}

template <scalar T>
void factor_with_pivots(matrix_view<T> A, blas_int* jpvt, std::span<T> tau,
                        std::span<index_t> pivots) {
  const index_t fixed = move_fixed_to_front(A, jpvt);
  linalg::geqp3(A, pivots, tau, fixed);
  // Both are permutations: the second one is applied to the numbers that the first one left.
  for (index_t& each : pivots) each = jpvt[each];
  std::transform(pivots.begin(), pivots.end(), jpvt,
                 [](index_t column) { return static_cast<blas_int>(column); });
}

template <scalar T>
blas_int geqp3(blas_int m, blas_int n, T* a, blas_int lda, blas_int* jpvt, T* tau,
               const workspace<T>& space) {
  if (m < 0) return -1;
  if (n < 0) return -2;
  if (!holds(lda, m, n)) return -4;
  const blas_int k = std::min(m, n);
  const index_t more = is_complex<T> ? 0 : 2, least = k == 0 ? 1 : (more + 1) * index_t{n} + 1;
  if (!space.holds(least)) return -8;
  const double best = static_cast<double>(more) * n + (n + 1.0) * lapack_block;
  if (space.tell_length(k == 0 ? 1 : best, least)) return 0;
  const matrix_view<T> A(a, m, n, lda);
  const std::span<T> factors(tau, static_cast<std::size_t>(k));
  short_array<index_t, 64> pivots(n);
  const double flops = 4.0 * m * n * k - 2.0 * (1.0 * m + n) * k * k + 4.0 / 3 * k * k * k;
  on_workers(cost<T>(flops), [&] { factor_with_pivots(A, jpvt, factors, pivots.span()); });
  return 0;
}

template <scalar T>
blas_int c_geqp3(const c_call& how, blas_int m, blas_int n, T* a, blas_int lda, blas_int* jpvt,
                 T* tau, const workspace<T>& space) {
  return c_factorization(how, m, n, a, lda, [&](T* A, blas_int leading) {
    return geqp3(m, n, A, leading, jpvt, tau, space);
  });
}

}  // namespace
}  // namespace creek::lapack

using namespace creek::lapack;

#define CREEK_DEFINE(x, T)                                                                     \
  CREEK_LAPACK(x##geqp3,                                                                       \
               (in_int m, in_int n, T * a, in_int lda, blas_int * jpvt, T * tau, T * work,     \
                in_int lwork, blas_int * info),                                                \
               geqp3(*m, *n, a, *lda, jpvt, tau, workspace<T>(work, *lwork)))                  \
  CREEK_LAPACKE_WITH_WORK(                                                                     \
      x##geqp3, T,                                                                             \
      (int layout_number, blas_int m, blas_int n, T* a, blas_int lda, blas_int* jpvt, T* tau), \
      c_geqp3(how, m, n, a, lda, jpvt, tau, space))
CREEK_DEFINE(s, float)
CREEK_DEFINE(d, double)
#undef CREEK_DEFINE

// The complex routines have RWORK, too.
#define CREEK_DEFINE(x, T, R)                                                                  \
  CREEK_LAPACK(x##geqp3,                                                                       \
               (in_int m, in_int n, T * a, in_int lda, blas_int * jpvt, T * tau, T * work,     \
                in_int lwork, R*, blas_int * info),                                            \
               geqp3(*m, *n, a, *lda, jpvt, tau, workspace<T>(work, *lwork)))                  \
  CREEK_LAPACKE_FORM(                                                                          \
      x##geqp3, ,                                                                              \
      (int layout_number, blas_int m, blas_int n, T* a, blas_int lda, blas_int* jpvt, T* tau), \
      true, false, T unread{};                                                                 \
      const workspace<T> space(&unread, std::numeric_limits<blas_int>::max());                 \
      return c_geqp3(how, m, n, a, lda, jpvt, tau, space);)                                    \
  CREEK_LAPACKE_FORM(x##geqp3, _work,                                                          \
                     (int layout_number, blas_int m, blas_int n, T* a, blas_int lda,           \
                      blas_int* jpvt, T* tau, T* work, blas_int lwork, R*),                    \
                     false, lwork == -1,                                                       \
                     return c_geqp3(how, m, n, a, lda, jpvt, tau, workspace<T>(work, lwork));)
CREEK_DEFINE(c, std::complex<float>, float)
CREEK_DEFINE(z, std::complex<double>, double)
#undef CREEK_DEFINE

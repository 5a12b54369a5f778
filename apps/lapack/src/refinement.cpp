// SPDX-License-Identifier: Apache-2.0
// gerfs, porfs.
#include <creek/linalg/refine.hpp>

#include "exports.hpp"
#include "pivot_list.hpp"
#include "spare_array.hpp"
#include "workers.hpp"

namespace creek::lapack {
namespace {

/// The arguments that both routines have.
template <scalar T>
struct refined_system {
  blas_int n, nrhs;
  const T* a;
  blas_int lda;
  const T* af;
  blas_int ldaf;
  const T* b;
  blas_int ldb;
  T* x;
  blas_int ldx;
  real<T>* ferr;
  real<T>* berr;
  T* work;

  /// Returns 0 or -i; `b_position` is that of LDB.
  blas_int bad_argument(blas_int b_position) const {
    if (n < 0) return -2;
    if (nrhs < 0) return -3;
    if (!holds(lda, n, n)) return -5;
    if (!holds(ldaf, n, n)) return -7;
    if (!holds(ldb, n, nrhs)) return -b_position;
    return holds(ldx, n, nrhs) ? 0 : -(b_position + 2);
  }

  /// Calls f(A, factors, B, X, ferr, berr, memory). Only several columns are worth workers.
  template <class F>
  void run(F f) const {
    short_array<double, 16> forward(nrhs), backward(nrhs);
    const auto length = static_cast<std::size_t>(linalg::refine_work_size<T>(n));
    const std::span<T> memory(work, work == nullptr ? 0 : length);
    on_workers(nrhs > 1 ? cost<T>(20.0 * n * n * nrhs) : 0, [&] {
      f(const_view<T>(a, n, n, lda), const_view<T>(af, n, n, ldaf), const_view<T>(b, n, nrhs, ldb),
        matrix_view<T>(x, n, nrhs, ldx), forward.span(), backward.span(), memory);
    });
    const auto rounded = [](double bound) { return static_cast<real<T>>(bound); };
    std::ranges::transform(forward.span(), ferr, rounded);
    std::ranges::transform(backward.span(), berr, rounded);
  }
};

template <scalar T>
blas_int gerfs(char trans, const blas_int* ipiv, const refined_system<T>& given) {
  const auto how = parse_op(trans);
  if (!how) return -1;
  if (const blas_int bad = given.bad_argument(10)) return bad;
  pivot_list pivots(ipiv, given.nrhs == 0 ? 0 : given.n);
  given.run([&](const auto& A, const auto& LU, const auto&... others) {
    if (given.nrhs > 0) linalg::gerfs<T>(*how, A, LU, pivots.span(), others...);
  });
  return 0;
}

template <scalar T>
blas_int porfs(char uplo, const refined_system<T>& given) {
  const auto stored = parse_triangle(uplo);
  if (!stored) return -1;
  if (const blas_int bad = given.bad_argument(9)) return bad;
  given.run([&](const auto&... each) { linalg::porfs<T>(*stored, each...); });
  return 0;
}

template <scalar T>
blas_int c_gerfs(const c_call& how, char trans, const blas_int* ipiv,
                 const refined_system<T>& given) {
  const blas_int n = given.n, nrhs = given.nrhs;
  return c_interface(
      how,
      [&](const operand<T>& A, const operand<T>& F, const operand<T>& B, const operand<T>& X) {
        return gerfs<T>(trans, ipiv,
                        {n, nrhs, A.data, A.leading, F.data, F.leading, B.data, B.leading, X.data,
                         X.leading, given.ferr, given.berr, given.work});
      },
      read_only(given.a, n, n, given.lda, 5), read_only(given.af, n, n, given.ldaf, 7),
      read_only(given.b, n, nrhs, given.ldb, 10), operand<T>{given.x, n, nrhs, given.ldx, 12});
}

template <scalar T>
blas_int c_porfs(const c_call& how, char uplo, const refined_system<T>& given) {
  const blas_int n = given.n, nrhs = given.nrhs;
  const region part = region::of_triangle(uplo);
  return c_interface(
      how,
      [&](const operand<T>& A, const operand<T>& F, const operand<T>& B, const operand<T>& X) {
        return porfs<T>(uplo, {n, nrhs, A.data, A.leading, F.data, F.leading, B.data, B.leading,
                               X.data, X.leading, given.ferr, given.berr, given.work});
      },
      read_only(given.a, n, n, given.lda, 5, part), read_only(given.af, n, n, given.ldaf, 7, part),
      read_only(given.b, n, nrhs, given.ldb, 9), operand<T>{given.x, n, nrhs, given.ldx, 11});
}

}  // namespace
}  // namespace creek::lapack

using namespace creek::lapack;

#define CREEK_DEFINE(x, T)                                                                         \
  CREEK_LAPACK(                                                                                    \
      x##gerfs,                                                                                    \
      (const char* trans, in_int n, in_int nrhs, const T* a, in_int lda, const T* af, in_int ldaf, \
       in_int ipiv, const T* b, in_int ldb, T* x, in_int ldx, real<T>* ferr, real<T>* berr,        \
       T* work, spare_array<T>, blas_int* info),                                                   \
      gerfs<T>(*trans, ipiv, {*n, *nrhs, a, *lda, af, *ldaf, b, *ldb, x, *ldx, ferr, berr, work})) \
  CREEK_LAPACKE_WITH_SPARE(                                                                        \
      x##gerfs, T,                                                                                 \
      (int layout_number, char trans, blas_int n, blas_int nrhs, const T* a, blas_int lda,         \
       const T* af, blas_int ldaf, in_int ipiv, const T* b, blas_int ldb, T* x, blas_int ldx,      \
       real<T>* ferr, real<T>* berr),                                                              \
      c_gerfs<T>(how, trans, ipiv, {n, nrhs, a, lda, af, ldaf, b, ldb, x, ldx, ferr, berr, work})) \
  CREEK_LAPACK(                                                                                    \
      x##porfs,                                                                                    \
      (const char* uplo, in_int n, in_int nrhs, const T* a, in_int lda, const T* af, in_int ldaf,  \
       const T* b, in_int ldb, T* x, in_int ldx, real<T>* ferr, real<T>* berr, T* work,            \
       spare_array<T>, blas_int* info),                                                            \
      porfs<T>(*uplo, {*n, *nrhs, a, *lda, af, *ldaf, b, *ldb, x, *ldx, ferr, berr, work}))        \
  CREEK_LAPACKE_WITH_SPARE(                                                                        \
      x##porfs, T,                                                                                 \
      (int layout_number, char uplo, blas_int n, blas_int nrhs, const T* a, blas_int lda,          \
       const T* af, blas_int ldaf, const T* b, blas_int ldb, T* x, blas_int ldx, real<T>* ferr,    \
       real<T>* berr),                                                                             \
      c_porfs<T>(how, uplo, {n, nrhs, a, lda, af, ldaf, b, ldb, x, ldx, ferr, berr, work}))
CREEK_FOR_EACH_SCALAR(CREEK_DEFINE)
#undef CREEK_DEFINE

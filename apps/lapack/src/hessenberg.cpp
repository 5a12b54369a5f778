// SPDX-License-Identifier: Apache-2.0
// gebal, gebak, gehrd; orghr and ormhr, for complex numbers unghr and unmhr.
#include <creek/linalg/schur.hpp>

#include <algorithm>
#include <cmath>
#include <span>

#include "exports.hpp"
#include "workers.hpp"

namespace creek::lapack {
namespace {

using linalg::active_rows;
using linalg::balancing;

/// LAPACK's own block width and the triangle that it keeps in the workspace of gehrd.
constexpr double hessenberg_block = 32, hessenberg_triangle = 65 * 64;

std::optional<balancing> parse_balancing(char letter) noexcept {
  const auto one = parse_letter(letter, balancing::none, balancing::both);
  return one ? one : parse_letter(letter, balancing::permute, balancing::scale);
}

/// Returns whether rows ilo to ihi, from 1, are among n.
bool are_rows(blas_int ilo, blas_int n) noexcept {
  return ilo >= 1 && ilo <= std::max<blas_int>(1, n);
}
bool are_rows(blas_int ilo, blas_int ihi, blas_int n) noexcept {
  return ihi >= std::min(ilo, n) && ihi <= n;
}
active_rows rows_between(blas_int ilo, blas_int ihi) noexcept {
  return {ilo - 1, ihi};
}

template <class T>
std::span<T> elements(T* data, index_t count) noexcept {
  return {data, static_cast<std::size_t>(std::max<index_t>(0, count))};
}

template <scalar T>
blas_int gebal(char job, blas_int n, T* a, blas_int lda, blas_int* ilo, blas_int* ihi,
               real<T>* scale) {
  const auto how = parse_balancing(job);
  if (!how) return -1;
  if (n < 0) return -2;
  if (!holds(lda, n, n)) return -4;
  const linalg::balanced_rows done =
      linalg::gebal(*how, matrix_view<T>(a, n, n, lda), elements(scale, n));
  *ilo = static_cast<blas_int>(done.active.first + 1);
  *ihi = static_cast<blas_int>(done.active.end);
  return done.is_finite ? 0 : -3;
}

template <scalar T>
blas_int gebak(char job, char where, blas_int n, blas_int ilo, blas_int ihi, const real<T>* scale,
               blas_int m, T* v, blas_int ldv) {
  const auto how = parse_balancing(job);
  const auto on = parse_side(where);
  if (!how) return -1;
  if (!on) return -2;
  if (n < 0) return -3;
  if (!are_rows(ilo, n)) return -4;
  if (!are_rows(ilo, ihi, n)) return -5;
  if (m < 0) return -7;
  if (!holds(ldv, n, m)) return -9;
  if (n == 0 || m == 0) return 0;
  linalg::gebak<T>(*how, *on, rows_between(ilo, ihi), elements(scale, n),
                   matrix_view<T>(v, n, m, ldv));
  return 0;
}

template <scalar T>
blas_int gehrd(blas_int n, blas_int ilo, blas_int ihi, T* a, blas_int lda, T* tau,
               const workspace<T>& space) {
  if (n < 0) return -1;
  if (!are_rows(ilo, n)) return -2;
  if (!are_rows(ilo, ihi, n)) return -3;
  if (!holds(lda, n, n)) return -5;
  if (!space.holds(n)) return -8;
  if (space.tell_length(hessenberg_block * n + hessenberg_triangle, n) || n == 0) return 0;
  const double order = ihi - ilo;
  on_workers(cost<T>(2 * order * order * (order / 3 + n)), [&] {
    linalg::gehrd(matrix_view<T>(a, n, n, lda), rows_between(ilo, ihi), elements(tau, n - 1));
  });
  return 0;
}

template <scalar T>
blas_int orghr(blas_int n, blas_int ilo, blas_int ihi, T* a, blas_int lda, const T* tau,
               const workspace<T>& space) {
  if (n < 0) return -1;
  if (!are_rows(ilo, n)) return -2;
  if (!are_rows(ilo, ihi, n)) return -3;
  if (!holds(lda, n, n)) return -5;
  const double order = ihi - ilo;
  if (!space.holds(ihi - ilo)) return -8;
  if (space.tell_length(hessenberg_block * std::max(1.0, order), ihi - ilo) || n == 0) return 0;
  on_workers(cost<T>(4 * order * order * order / 3), [&] {
    linalg::orghr<T>(matrix_view<T>(a, n, n, lda), rows_between(ilo, ihi), elements(tau, n - 1));
  });
  return 0;
}

template <scalar T>
blas_int ormhr(char where, char trans, blas_int m, blas_int n, blas_int ilo, blas_int ihi,
               const T* a, blas_int lda, const T* tau, T* c, blas_int ldc,
               const workspace<T>& space) {
  const auto on = parse_side(where);
  const auto how = parse_adjoint<T>(trans);
  if (!on) return -1;
  if (!how) return -2;
  if (m < 0) return -3;
  if (n < 0) return -4;
  const blas_int order = *on == side::left ? m : n, width = *on == side::left ? n : m;
  if (!are_rows(ilo, order)) return -5;
  if (!are_rows(ilo, ihi, order)) return -6;
  if (!holds(lda, order, order)) return -8;
  if (!holds(ldc, m, n)) return -11;
  if (!space.holds(width)) return -13;
  const double best = hessenberg_block * std::max<blas_int>(1, width);
  if (space.tell_length(best, width) || m == 0 || n == 0) return 0;
  const double count = ihi - ilo;
  on_workers(cost<T>(2 * count * count * width), [&] {
    linalg::ormhr(*on, *how, rows_between(ilo, ihi), const_view<T>(a, order, order, lda),
                  elements(tau, order - 1), matrix_view<T>(c, m, n, ldc));
  });
  return 0;
}

template <scalar T>
blas_int c_gebal(const c_call& how, char job, blas_int n, T* a, blas_int lda, blas_int* ilo,
                 blas_int* ihi, real<T>* scale) {
  const auto steps = parse_balancing(job);
  operand<T> whole{a, n, n, lda, 4};
  // Without a step the matrix is not touched, and may be absent.
  if (!steps || *steps == balancing::none) whole.part = {false, false, false};
  return c_interface(
      how, [&](const operand<T>& A) { return gebal(job, n, A.data, A.leading, ilo, ihi, scale); },
      whole);
}

template <scalar T>
blas_int c_gebak(const c_call& how, char job, char where, blas_int n, blas_int ilo, blas_int ihi,
                 const real<T>* scale, blas_int m, T* v, blas_int ldv) {
  if (how.upper_form && parse_layout(how.given_layout) && nan_check_wanted() &&
      std::any_of(scale, scale + std::max<blas_int>(0, n), [](real<T> x) { return x != x; })) {
    return -7;
  }
  return c_interface(
      how,
      [&](const operand<T>& V) {
        return gebak<T>(job, where, n, ilo, ihi, scale, m, V.data, V.leading);
      },
      operand<T>{v, n, m, ldv, 9});
}

template <scalar T>
blas_int c_gehrd(const c_call& how, blas_int n, blas_int ilo, blas_int ihi, T* a, blas_int lda,
                 T* tau, const workspace<T>& space) {
  return c_interface(
      how, [&](const operand<T>& A) { return gehrd(n, ilo, ihi, A.data, A.leading, tau, space); },
      operand<T>{a, n, n, lda, 5});
}

template <scalar T>
blas_int c_orghr(const c_call& how, blas_int n, blas_int ilo, blas_int ihi, T* a, blas_int lda,
                 const T* tau, const workspace<T>& space) {
  return c_interface(
      how,
      [&](const operand<T>& A, const operand<T>& t) {
        return orghr<T>(n, ilo, ihi, A.data, A.leading, t.data, space);
      },
      operand<T>{a, n, n, lda, 5},
      read_only_vector(how.given_layout, tau, std::max<blas_int>(0, n - 1), 7));
}

template <scalar T>
blas_int c_ormhr(const c_call& how, char where, char trans, blas_int m, blas_int n, blas_int ilo,
                 blas_int ihi, const T* a, blas_int lda, const T* tau, T* c, blas_int ldc,
                 const workspace<T>& space) {
  const blas_int order = parse_side(where) == side::left ? m : n;
  return c_interface(
      how,
      [&](const operand<T>& A, const operand<T>& C, const operand<T>& t) {
        return ormhr<T>(where, trans, m, n, ilo, ihi, A.data, A.leading, t.data, C.data, C.leading,
                        space);
      },
      read_only(a, order, order, lda, 8), operand<T>{c, m, n, ldc, 11},
      read_only_vector(how.given_layout, tau, std::max<blas_int>(0, order - 1), 10));
}

}  // namespace
}  // namespace creek::lapack

using namespace creek::lapack;

#define CREEK_DEFINE(x, T)                                                                        \
  CREEK_LAPACK(x##gebal,                                                                          \
               (const char* job, in_int n, T* a, in_int lda, blas_int* ilo, blas_int* ihi,        \
                real<T>* scale, blas_int* info),                                                  \
               gebal(*job, *n, a, *lda, ilo, ihi, scale))                                         \
  CREEK_LAPACKE(x##gebal,                                                                         \
                (int layout_number, char job, blas_int n, T* a, blas_int lda, blas_int* ilo,      \
                 blas_int* ihi, real<T>* scale),                                                  \
                c_gebal(how, job, n, a, lda, ilo, ihi, scale))                                    \
  CREEK_LAPACK(x##gebak,                                                                          \
               (const char* job, const char* where, in_int n, in_int ilo, in_int ihi,             \
                const real<T>* scale, in_int m, T* v, in_int ldv, blas_int* info),                \
               gebak(*job, *where, *n, *ilo, *ihi, scale, *m, v, *ldv))                           \
  CREEK_LAPACKE(x##gebak,                                                                         \
                (int layout_number, char job, char where, blas_int n, blas_int ilo, blas_int ihi, \
                 const real<T>* scale, blas_int m, T* v, blas_int ldv),                           \
                c_gebak(how, job, where, n, ilo, ihi, scale, m, v, ldv))                          \
  CREEK_LAPACK(x##gehrd,                                                                          \
               (in_int n, in_int ilo, in_int ihi, T * a, in_int lda, T * tau, T * work,           \
                in_int lwork, blas_int * info),                                                   \
               gehrd(*n, *ilo, *ihi, a, *lda, tau, workspace<T>(work, *lwork)))                   \
  CREEK_LAPACKE_WITH_WORK(                                                                        \
      x##gehrd, T,                                                                                \
      (int layout_number, blas_int n, blas_int ilo, blas_int ihi, T* a, blas_int lda, T* tau),    \
      c_gehrd(how, n, ilo, ihi, a, lda, tau, space))
CREEK_FOR_EACH_SCALAR(CREEK_DEFINE)
#undef CREEK_DEFINE

// Defines the routines of Q, which is orthogonal or unitary.
#define CREEK_DEFINE_Q(GROUP, T)                                                                  \
  CREEK_LAPACK(GROUP##ghr,                                                                        \
               (in_int n, in_int ilo, in_int ihi, T * a, in_int lda, const T* tau, T* work,       \
                in_int lwork, blas_int* info),                                                    \
               orghr(*n, *ilo, *ihi, a, *lda, tau, workspace<T>(work, *lwork)))                   \
  CREEK_LAPACKE_WITH_WORK(GROUP##ghr, T,                                                          \
                          (int layout_number, blas_int n, blas_int ilo, blas_int ihi, T* a,       \
                           blas_int lda, const T* tau),                                           \
                          c_orghr(how, n, ilo, ihi, a, lda, tau, space))                          \
  CREEK_LAPACK(GROUP##mhr,                                                                        \
               (const char* where, const char* trans, in_int m, in_int n, in_int ilo, in_int ihi, \
                const T* a, in_int lda, const T* tau, T* c, in_int ldc, T* work, in_int lwork,    \
                blas_int* info),                                                                  \
               ormhr(*where, *trans, *m, *n, *ilo, *ihi, a, *lda, tau, c, *ldc,                   \
                     workspace<T>(work, *lwork)))                                                 \
  CREEK_LAPACKE_WITH_WORK(                                                                        \
      GROUP##mhr, T,                                                                              \
      (int layout_number, char where, char trans, blas_int m, blas_int n, blas_int ilo,           \
       blas_int ihi, const T* a, blas_int lda, const T* tau, T* c, blas_int ldc),                 \
      c_ormhr(how, where, trans, m, n, ilo, ihi, a, lda, tau, c, ldc, space))
CREEK_DEFINE_Q(sor, float)
CREEK_DEFINE_Q(dor, double)
CREEK_DEFINE_Q(cun, std::complex<float>)
CREEK_DEFINE_Q(zun, std::complex<double>)
#undef CREEK_DEFINE_Q

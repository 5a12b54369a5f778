// SPDX-License-Identifier: Apache-2.0
// sygst, sygv and sygvd, for complex numbers hegst, hegv and hegvd.
#include <creek/linalg/eigen.hpp>

#include <span>

#include "eigen_space.hpp"
#include "exports.hpp"
#include "workers.hpp"

namespace creek::lapack {
namespace {

using linalg::eigen_equation;
using linalg::eigen_job;

std::optional<eigen_equation> parse_equation(blas_int itype) noexcept {
  if (itype < 1 || itype > 3) return std::nullopt;
  return static_cast<eigen_equation>(itype);
}

template <scalar T>
blas_int hegst(blas_int itype, char uplo, blas_int n, T* a, blas_int lda, const T* b,
               blas_int ldb) {
  const auto equation = parse_equation(itype);
  const auto stored = parse_triangle(uplo);
  if (!equation) return -1;
  if (!stored) return -2;
  if (n < 0) return -3;
  if (!holds(lda, n, n)) return -5;
  if (!holds(ldb, n, n)) return -7;
  if (n == 0) return 0;
  on_workers(cost<T>(1.0 * n * n * n), [&] {
    linalg::hegst<T>(*equation, *stored, matrix_view<T>(a, n, n, lda), const_view<T>(b, n, n, ldb));
  });
  return 0;
}

/// Arguments that the drivers share.
template <scalar T>
struct generalized_problem {
  blas_int itype;
  char jobz, uplo;
  blas_int n;
  T* a;
  blas_int lda;
  T* b;
  blas_int ldb;
  real<T>* w;

  blas_int check() const {
    if (!parse_equation(itype)) return -1;
    if (!parse_job(jobz)) return -2;
    if (!parse_triangle(uplo)) return -3;
    if (n < 0) return -4;
    if (!holds(lda, n, n)) return -6;
    return holds(ldb, n, n) ? 0 : -8;
  }
  blas_int solve() const {
    const eigen_job job = *parse_job(jobz);
    const double around = (job == eigen_job::vectors ? 7.0 : 4.0) / 3 * n * n * n;
    const index_t info = on_workers(cost<T>(eigen_flops(job, n) + around), [&] {
      return linalg::hegvd(*parse_equation(itype), job, *parse_triangle(uplo),
                           matrix_view<T>(a, n, n, lda), matrix_view<T>(b, n, n, ldb),
                           std::span(w, static_cast<std::size_t>(n)));
    });
    return static_cast<blas_int>(info);
  }
};

template <scalar T>
blas_int hegv(const generalized_problem<T>& given, const workspace<T>& space) {
  if (const blas_int bad = given.check()) return bad;
  const index_t n = given.n, more = is_complex<T> ? 1 : 2, least = (more + 1) * n - 1;
  if (!space.holds(least)) return -11;
  const double best = (lapack_reduction_block + static_cast<double>(more)) * given.n;
  if (space.tell_length(best, least) || n == 0) return 0;
  return given.solve();
}

template <scalar T>
blas_int hegvd(const generalized_problem<T>& given, const eigen_space<T>& space) {
  if (const blas_int bad = given.check()) return bad;
  const bool vectors = *parse_job(given.jobz) == eigen_job::vectors;
  const space_lengths need = divide_and_conquer_lengths<T>(vectors, given.n);
  if (const blas_int bad = space.check(need, 11)) return bad;
  if (space.tell(need) || given.n == 0) return 0;
  return given.solve();
}

template <scalar T>
blas_int c_hegst(const c_call& how, blas_int itype, char uplo, blas_int n, T* a, blas_int lda,
                 const T* b, blas_int ldb) {
  return c_interface(
      how,
      [&](const operand<T>& A, const operand<T>& B) {
        return hegst<T>(itype, uplo, n, A.data, A.leading, B.data, B.leading);
      },
      operand<T>{a, n, n, lda, 5, region::of_triangle(uplo)},
      read_only(b, n, n, ldb, 7, region::of_triangle(uplo)));
}

/// Calls f(problem) with column-major matrices.
template <scalar T, class F>
blas_int c_driver(const c_call& how, const generalized_problem<T>& given, F f) {
  const auto n = given.n;
  operand<T> whole{given.a, n, n, given.lda, 6, region::of_triangle(given.uplo)};
  if (parse_job(given.jobz) == eigen_job::vectors) whole.result = region{};
  return c_interface(
      how,
      [&](const operand<T>& A, const operand<T>& B) {
        generalized_problem<T> turned = given;
        turned.a = A.data, turned.lda = A.leading;
        turned.b = B.data, turned.ldb = B.leading;
        return f(turned);
      },
      whole, operand<T>{given.b, n, n, given.ldb, 8, region::of_triangle(given.uplo)});
}

template <scalar T>
blas_int c_hegv(const c_call& how, const generalized_problem<T>& given, const workspace<T>& space) {
  return c_driver(how, given, [&](const auto& turned) { return hegv(turned, space); });
}

template <scalar T>
blas_int c_hegvd(const c_call& how, const generalized_problem<T>& given,
                 const eigen_space<T>& space) {
  return c_driver(how, given, [&](const auto& turned) { return hegvd(turned, space); });
}

}  // namespace
}  // namespace creek::lapack

using namespace creek::lapack;

#define CREEK_FORTRAN_PROBLEM(T, R)                                                               \
  in_int itype, const char *jobz, const char *uplo, in_int n, T *a, in_int lda, T *b, in_int ldb, \
      R *w
#define CREEK_C_PROBLEM(T, R)                                                                    \
  int layout_number, blas_int itype, char jobz, char uplo, blas_int n, T *a, blas_int lda, T *b, \
      blas_int ldb, R *w

// Routines whose arguments are alike for real and complex numbers.
#define CREEK_DEFINE_ALIKE(x, T, R)                                                            \
  CREEK_LAPACK(x##gst,                                                                         \
               (in_int itype, const char* uplo, in_int n, T* a, in_int lda, const T* b,        \
                in_int ldb, blas_int* info),                                                   \
               hegst(*itype, *uplo, *n, a, *lda, b, *ldb))                                     \
  CREEK_LAPACKE(x##gst,                                                                        \
                (int layout_number, blas_int itype, char uplo, blas_int n, T* a, blas_int lda, \
                 const T* b, blas_int ldb),                                                    \
                c_hegst(how, itype, uplo, n, a, lda, b, ldb))                                  \
  CREEK_LAPACKE_FORM(                                                                          \
      x##gvd, , (CREEK_C_PROBLEM(T, R)), true, false,                                          \
      return c_hegvd<T>(how, {itype, jobz, uplo, n, a, lda, b, ldb, w}, eigen_space<T>());)

#define CREEK_DEFINE(x, T)                                                                         \
  CREEK_DEFINE_ALIKE(x, T, T)                                                                      \
  CREEK_LAPACK(                                                                                    \
      x##gv, (CREEK_FORTRAN_PROBLEM(T, T), T * work, in_int lwork, blas_int * info),               \
      hegv<T>({*itype, *jobz, *uplo, *n, a, *lda, b, *ldb, w}, workspace<T>(work, *lwork)))        \
  CREEK_LAPACKE_WITH_WORK(x##gv, T, (CREEK_C_PROBLEM(T, T)),                                       \
                          c_hegv<T>(how, {itype, jobz, uplo, n, a, lda, b, ldb, w}, space))        \
  CREEK_LAPACK(x##gvd,                                                                             \
               (CREEK_FORTRAN_PROBLEM(T, T), T * work, in_int lwork, blas_int * iwork,             \
                in_int liwork, blas_int * info),                                                   \
               hegvd<T>({*itype, *jobz, *uplo, *n, a, *lda, b, *ldb, w},                           \
                        eigen_space<T>(work, *lwork, iwork, *liwork)))                             \
  CREEK_LAPACKE_FORM(                                                                              \
      x##gvd, _work,                                                                               \
      (CREEK_C_PROBLEM(T, T), T * work, blas_int lwork, blas_int * iwork, blas_int liwork), false, \
      lwork == -1 || liwork == -1,                                                                 \
      return c_hegvd<T>(how, {itype, jobz, uplo, n, a, lda, b, ldb, w},                            \
                        eigen_space<T>(work, lwork, iwork, liwork));)
CREEK_DEFINE(ssy, float)
CREEK_DEFINE(dsy, double)
#undef CREEK_DEFINE

#define CREEK_DEFINE(x, T, R)                                                                    \
  CREEK_DEFINE_ALIKE(x, T, R)                                                                    \
  CREEK_LAPACK(                                                                                  \
      x##gv, (CREEK_FORTRAN_PROBLEM(T, R), T * work, in_int lwork, R*, blas_int * info),         \
      hegv<T>({*itype, *jobz, *uplo, *n, a, *lda, b, *ldb, w}, workspace<T>(work, *lwork)))      \
  CREEK_LAPACKE_FORM(x##gv, , (CREEK_C_PROBLEM(T, R)), true, false, T unread{};                  \
                     const workspace<T> space(&unread, std::numeric_limits<blas_int>::max());    \
                     return c_hegv<T>(how, {itype, jobz, uplo, n, a, lda, b, ldb, w}, space);)   \
  CREEK_LAPACKE_FORM(x##gv, _work, (CREEK_C_PROBLEM(T, R), T * work, blas_int lwork, R*), false, \
                     lwork == -1,                                                                \
                     return c_hegv<T>(how, {itype, jobz, uplo, n, a, lda, b, ldb, w},            \
                                      workspace<T>(work, lwork));)                               \
  CREEK_LAPACK(x##gvd,                                                                           \
               (CREEK_FORTRAN_PROBLEM(T, R), T * work, in_int lwork, R * rwork, in_int lrwork,   \
                blas_int * iwork, in_int liwork, blas_int * info),                               \
               hegvd<T>({*itype, *jobz, *uplo, *n, a, *lda, b, *ldb, w},                         \
                        eigen_space<T>(work, *lwork, rwork, *lrwork, iwork, *liwork)))           \
  CREEK_LAPACKE_FORM(                                                                            \
      x##gvd, _work,                                                                             \
      (CREEK_C_PROBLEM(T, R), T * work, blas_int lwork, R * rwork, blas_int lrwork,              \
       blas_int * iwork, blas_int liwork),                                                       \
      false, lwork == -1 || lrwork == -1 || liwork == -1,                                        \
      return c_hegvd<T>(how, {itype, jobz, uplo, n, a, lda, b, ldb, w},                          \
                        eigen_space<T>(work, lwork, rwork, lrwork, iwork, liwork));)
CREEK_DEFINE(che, std::complex<float>, float)
CREEK_DEFINE(zhe, std::complex<double>, double)
#undef CREEK_DEFINE

// SPDX-License-Identifier: Apache-2.0
// syev, syevd and syevr, for complex numbers heev, heevd and heevr.
#include <creek/linalg/eigen.hpp>

#include <algorithm>
#include <cmath>
#include <span>

#include "eigen_space.hpp"
#include "exports.hpp"
#include "workers.hpp"

namespace creek::lapack {
namespace {

using linalg::eigen_job;
using linalg::eigen_range;

/// Checks the arguments that all drivers begin with, the first being number `before` + 1.
blas_int check_eigen(std::optional<eigen_job> job, char uplo, blas_int n, blas_int lda,
                     int before = 0) {
  if (!job) return -1;
  if (!parse_triangle(uplo)) return -(before + 2);
  if (n < 0) return -(before + 3);
  return holds(lda, n, n) ? 0 : -(before + 5);
}

template <scalar T>
blas_int run_heevd(eigen_job job, char uplo, blas_int n, T* a, blas_int lda, real<T>* w) {
  const index_t info = on_workers(cost<T>(eigen_flops(job, n)), [&] {
    return linalg::heevd(job, *parse_triangle(uplo), matrix_view<T>(a, n, n, lda),
                         std::span(w, static_cast<std::size_t>(n)));
  });
  return static_cast<blas_int>(info);
}

template <scalar T>
blas_int heev(char jobz, char uplo, blas_int n, T* a, blas_int lda, real<T>* w,
              const workspace<T>& space) {
  const auto job = parse_job(jobz);
  if (const blas_int bad = check_eigen(job, uplo, n, lda)) return bad;
  const index_t more = is_complex<T> ? 1 : 2, least = (more + 1) * index_t{n} - 1;
  if (!space.holds(least)) return -8;
  if (space.tell_length((lapack_reduction_block + static_cast<double>(more)) * n, least) ||
      n == 0) {
    return 0;
  }
  return run_heevd(*job, uplo, n, a, lda, w);
}

template <scalar T>
blas_int heevd(char jobz, char uplo, blas_int n, T* a, blas_int lda, real<T>* w,
               const eigen_space<T>& space) {
  const auto job = parse_job(jobz);
  if (const blas_int bad = check_eigen(job, uplo, n, lda)) return bad;
  const double order = n;
  space_lengths need = divide_and_conquer_lengths<T>(*job == eigen_job::vectors, order);
  if (n > 1) {
    const double reduction = ((is_complex<T> ? 1 : 2) + lapack_reduction_block) * order;
    need.best_work = std::max(need.work, reduction);
  }
  if (const blas_int bad = space.check(need, 8)) return bad;
  if (space.tell(need) || n == 0) return 0;
  return run_heevd(*job, uplo, n, a, lda, w);
}

/// The arguments of syevr that choose a part of the spectrum.
template <class R>
struct given_range {
  char letter;
  R vl, vu;
  blas_int il, iu;

  std::optional<eigen_range> parsed() const noexcept {
    using kind = eigen_range::kind;
    if (const auto values = parse_letter(letter, kind::all, kind::values)) {
      return eigen_range{.by = *values, .low = vl, .high = vu};
    }
    if (!parse_letter(letter, kind::indices, kind::indices)) return std::nullopt;
    return eigen_range{.by = kind::indices, .first = index_t{il} - 1, .last = iu};
  }
  blas_int check(blas_int n) const noexcept {
    using kind = eigen_range::kind;
    const kind by = parsed()->by;
    if (by == kind::values && n > 0 && vu <= vl) return -8;
    if (by != kind::indices) return 0;
    if (il < 1 || il > std::max<blas_int>(1, n)) return -9;
    return iu < std::min(n, il) || iu > n ? -10 : 0;
  }
  bool is_whole(blas_int n) const noexcept {
    using kind = eigen_range::kind;
    const kind by = parsed()->by;
    return by == kind::all || (by == kind::indices && il == 1 && iu == n);
  }
  /// Returns the columns that Z needs.
  blas_int columns(blas_int n) const noexcept {
    if (!parse_letter(letter, 'I', 'I')) return n;
    const index_t wanted = index_t{iu} - index_t{il} + 1;
    return static_cast<blas_int>(std::clamp<index_t>(wanted, 0, std::max<index_t>(0, n)));
  }
};

template <scalar T>
blas_int heevr(char jobz, const given_range<real<T>>& range, char uplo, blas_int n, T* a,
               blas_int lda, blas_int* m, real<T>* w, T* z, blas_int ldz, blas_int* isuppz,
               const eigen_space<T>& space) {
  const auto job = parse_job(jobz);
  const auto wanted = range.parsed();
  if (!job) return -1;
  if (!wanted) return -2;
  if (const blas_int bad = check_eigen(job, uplo, n, lda, 1)) return bad;
  if (const blas_int bad = range.check(n)) return bad;
  const bool vectors = *job == eigen_job::vectors;
  if (ldz < 1 || (vectors && ldz < n)) return -15;
  const double order = n;
  space_lengths need{};
  need.work = std::max(1.0, (is_complex<T> ? 2 : 26) * order);
  need.rwork = is_complex<T> ? std::max(1.0, 24 * order) : 1;
  need.iwork = std::max(1.0, 10 * order);
  need.best_work = std::max(need.work, (lapack_reduction_block + 1) * order);
  if (const blas_int bad = space.check(need, 18)) return bad;
  if (space.tell(need)) return 0;
  *m = 0;
  if (n == 0) return 0;
  const matrix_view<T> Z(z, n, vectors ? range.columns(n) : 0, vectors ? ldz : n);
  const auto found = on_workers(cost<T>(eigen_flops(*job, n)), [&] {
    return linalg::heevr(*job, *wanted, *parse_triangle(uplo), matrix_view<T>(a, n, n, lda),
                         std::span(w, static_cast<std::size_t>(n)), Z);
  });
  *m = static_cast<blas_int>(found.count);
  // Callers give no room for the supports of a part of the spectrum, which LAPACK does not return.
  for (blas_int i = 0; vectors && (range.is_whole(n) || n == 1) && i < *m; ++i) {
    isuppz[2 * i] = 1;
    isuppz[2 * i + 1] = n;
  }
  return static_cast<blas_int>(found.info);
}

/// The operand A of which a triangle is read, and which becomes the vectors if there are some.
template <scalar T>
operand<T> eigen_operand(char jobz, char uplo, blas_int n, T* a, blas_int lda) {
  operand<T> whole{a, n, n, lda, 5, region::of_triangle(uplo)};
  if (parse_job(jobz) == eigen_job::vectors) whole.result = region{};
  return whole;
}

template <scalar T>
blas_int c_heev(const c_call& how, char jobz, char uplo, blas_int n, T* a, blas_int lda, real<T>* w,
                const workspace<T>& space) {
  return c_interface(
      how, [&](const operand<T>& A) { return heev(jobz, uplo, n, A.data, A.leading, w, space); },
      eigen_operand(jobz, uplo, n, a, lda));
}

template <scalar T>
blas_int c_heevd(const c_call& how, char jobz, char uplo, blas_int n, T* a, blas_int lda,
                 real<T>* w, const eigen_space<T>& space) {
  return c_interface(
      how, [&](const operand<T>& A) { return heevd(jobz, uplo, n, A.data, A.leading, w, space); },
      eigen_operand(jobz, uplo, n, a, lda));
}

template <scalar T>
blas_int c_heevr(const c_call& how, char jobz, const given_range<real<T>>& range, char uplo,
                 blas_int n, T* a, blas_int lda, real<T> abstol, blas_int* m, real<T>* w, T* z,
                 blas_int ldz, blas_int* isuppz, const eigen_space<T>& space) {
  const bool vectors = parse_job(jobz) == eigen_job::vectors;
  operand<T> Z{z, vectors ? n : 0, vectors ? range.columns(n) : 0, ldz, 15, {false, false, false}};
  Z.result = region{};
  const operand<T> A{a, n, n, lda, 6, region::of_triangle(uplo)};
  if (how.upper_form && parse_layout(how.given_layout) && nan_check_wanted() &&
      !has_nan(A, *parse_layout(how.given_layout))) {
    if (std::isnan(abstol)) return -12;
    const bool by_values = parse_letter(range.letter, 'V', 'V').has_value();
    if (by_values && std::isnan(range.vl)) return -8;
    if (by_values && std::isnan(range.vu)) return -9;
  }
  return c_interface(
      how,
      [&](const operand<T>& A_columns, const operand<T>& Z_columns) {
        return heevr<T>(jobz, range, uplo, n, A_columns.data, A_columns.leading, m, w,
                        Z_columns.data, Z_columns.leading, isuppz, space);
      },
      A, Z);
}

}  // namespace
}  // namespace creek::lapack

using namespace creek::lapack;

#define CREEK_DEFINE(x, T)                                                                         \
  CREEK_LAPACK(x##ev,                                                                              \
               (const char* jobz, const char* uplo, in_int n, T* a, in_int lda, T* w, T* work,     \
                in_int lwork, blas_int* info),                                                     \
               heev(*jobz, *uplo, *n, a, *lda, w, workspace<T>(work, *lwork)))                     \
  CREEK_LAPACKE_WITH_WORK(                                                                         \
      x##ev, T, (int layout_number, char jobz, char uplo, blas_int n, T* a, blas_int lda, T* w),   \
      c_heev(how, jobz, uplo, n, a, lda, w, space))                                                \
  CREEK_LAPACK(x##evd,                                                                             \
               (const char* jobz, const char* uplo, in_int n, T* a, in_int lda, T* w, T* work,     \
                in_int lwork, blas_int* iwork, in_int liwork, blas_int* info),                     \
               heevd(*jobz, *uplo, *n, a, *lda, w, eigen_space<T>(work, *lwork, iwork, *liwork)))  \
  CREEK_LAPACKE_FORM(                                                                              \
      x##evd, , (int layout_number, char jobz, char uplo, blas_int n, T* a, blas_int lda, T* w),   \
      true, false, return c_heevd(how, jobz, uplo, n, a, lda, w, eigen_space<T>());)               \
  CREEK_LAPACKE_FORM(                                                                              \
      x##evd, _work,                                                                               \
      (int layout_number, char jobz, char uplo, blas_int n, T* a, blas_int lda, T* w, T* work,     \
       blas_int lwork, blas_int* iwork, blas_int liwork),                                          \
      false, lwork == -1 || liwork == -1,                                                          \
      return c_heevd(how, jobz, uplo, n, a, lda, w, eigen_space<T>(work, lwork, iwork, liwork));)  \
  CREEK_LAPACK(x##evr,                                                                             \
               (const char* jobz, const char* range, const char* uplo, in_int n, T* a, in_int lda, \
                const T* vl, const T* vu, in_int il, in_int iu, const T*, blas_int* m, T* w, T* z, \
                in_int ldz, blas_int* isuppz, T* work, in_int lwork, blas_int* iwork,              \
                in_int liwork, blas_int* info),                                                    \
               heevr<T>(*jobz, {*range, *vl, *vu, *il, *iu}, *uplo, *n, a, *lda, m, w, z, *ldz,    \
                        isuppz, eigen_space<T>(work, *lwork, iwork, *liwork)))                     \
  CREEK_LAPACKE_FORM(x##evr, ,                                                                     \
                     (int layout_number, char jobz, char range, char uplo, blas_int n, T* a,       \
                      blas_int lda, T vl, T vu, blas_int il, blas_int iu, T abstol, blas_int* m,   \
                      T* w, T* z, blas_int ldz, blas_int* isuppz),                                 \
                     true, false,                                                                  \
                     return c_heevr<T>(how, jobz, {range, vl, vu, il, iu}, uplo, n, a, lda,        \
                                       abstol, m, w, z, ldz, isuppz, eigen_space<T>());)           \
  CREEK_LAPACKE_FORM(                                                                              \
      x##evr, _work,                                                                               \
      (int layout_number, char jobz, char range, char uplo, blas_int n, T* a, blas_int lda, T vl,  \
       T vu, blas_int il, blas_int iu, T abstol, blas_int* m, T* w, T* z, blas_int ldz,            \
       blas_int* isuppz, T* work, blas_int lwork, blas_int* iwork, blas_int liwork),               \
      false, lwork == -1 || liwork == -1,                                                          \
      return c_heevr<T>(how, jobz, {range, vl, vu, il, iu}, uplo, n, a, lda, abstol, m, w, z, ldz, \
                        isuppz, eigen_space<T>(work, lwork, iwork, liwork));)
CREEK_DEFINE(ssy, float)
CREEK_DEFINE(dsy, double)
#undef CREEK_DEFINE

// The same with a workspace for real numbers more.
#define CREEK_DEFINE(x, R)                                                                         \
  CREEK_LAPACK(x##ev,                                                                              \
               (const char* jobz, const char* uplo, in_int n, std::complex<R>* a, in_int lda,      \
                R* w, std::complex<R>* work, in_int lwork, R*, blas_int* info),                    \
               heev(*jobz, *uplo, *n, a, *lda, w, workspace<std::complex<R>>(work, *lwork)))       \
  CREEK_LAPACKE_FORM(                                                                              \
      x##ev, ,                                                                                     \
      (int layout_number, char jobz, char uplo, blas_int n, std::complex<R>* a, blas_int lda,      \
       R* w),                                                                                      \
      true, false, std::complex<R> unread{};                                                       \
      const workspace<std::complex<R>> space(&unread, std::numeric_limits<blas_int>::max());       \
      return c_heev(how, jobz, uplo, n, a, lda, w, space);)                                        \
  CREEK_LAPACKE_FORM(                                                                              \
      x##ev, _work,                                                                                \
      (int layout_number, char jobz, char uplo, blas_int n, std::complex<R>* a, blas_int lda,      \
       R* w, std::complex<R>* work, blas_int lwork, R*),                                           \
      false, lwork == -1,                                                                          \
      return c_heev(how, jobz, uplo, n, a, lda, w, workspace<std::complex<R>>(work, lwork));)      \
  CREEK_LAPACK(x##evd,                                                                             \
               (const char* jobz, const char* uplo, in_int n, std::complex<R>* a, in_int lda,      \
                R* w, std::complex<R>* work, in_int lwork, R* rwork, in_int lrwork,                \
                blas_int* iwork, in_int liwork, blas_int* info),                                   \
               heevd(*jobz, *uplo, *n, a, *lda, w,                                                 \
                     eigen_space<std::complex<R>>(work, *lwork, rwork, *lrwork, iwork, *liwork)))  \
  CREEK_LAPACKE_FORM(                                                                              \
      x##evd, ,                                                                                    \
      (int layout_number, char jobz, char uplo, blas_int n, std::complex<R>* a, blas_int lda,      \
       R* w),                                                                                      \
      true, false, return c_heevd(how, jobz, uplo, n, a, lda, w, eigen_space<std::complex<R>>());) \
  CREEK_LAPACKE_FORM(                                                                              \
      x##evd, _work,                                                                               \
      (int layout_number, char jobz, char uplo, blas_int n, std::complex<R>* a, blas_int lda,      \
       R* w, std::complex<R>* work, blas_int lwork, R* rwork, blas_int lrwork, blas_int* iwork,    \
       blas_int liwork),                                                                           \
      false, lwork == -1 || lrwork == -1 || liwork == -1,                                          \
      return c_heevd(how, jobz, uplo, n, a, lda, w,                                                \
                     eigen_space<std::complex<R>>(work, lwork, rwork, lrwork, iwork, liwork));)    \
  CREEK_LAPACK(                                                                                    \
      x##evr,                                                                                      \
      (const char* jobz, const char* range, const char* uplo, in_int n, std::complex<R>* a,        \
       in_int lda, const R* vl, const R* vu, in_int il, in_int iu, const R*, blas_int* m, R* w,    \
       std::complex<R>* z, in_int ldz, blas_int* isuppz, std::complex<R>* work, in_int lwork,      \
       R* rwork, in_int lrwork, blas_int* iwork, in_int liwork, blas_int* info),                   \
      heevr<std::complex<R>>(                                                                      \
          *jobz, {*range, *vl, *vu, *il, *iu}, *uplo, *n, a, *lda, m, w, z, *ldz, isuppz,          \
          eigen_space<std::complex<R>>(work, *lwork, rwork, *lrwork, iwork, *liwork)))             \
  CREEK_LAPACKE_FORM(                                                                              \
      x##evr, ,                                                                                    \
      (int layout_number, char jobz, char range, char uplo, blas_int n, std::complex<R>* a,        \
       blas_int lda, R vl, R vu, blas_int il, blas_int iu, R abstol, blas_int* m, R* w,            \
       std::complex<R>* z, blas_int ldz, blas_int* isuppz),                                        \
      true, false,                                                                                 \
      return c_heevr<std::complex<R>>(how, jobz, {range, vl, vu, il, iu}, uplo, n, a, lda, abstol, \
                                      m, w, z, ldz, isuppz, eigen_space<std::complex<R>>());)      \
  CREEK_LAPACKE_FORM(                                                                              \
      x##evr, _work,                                                                               \
      (int layout_number, char jobz, char range, char uplo, blas_int n, std::complex<R>* a,        \
       blas_int lda, R vl, R vu, blas_int il, blas_int iu, R abstol, blas_int* m, R* w,            \
       std::complex<R>* z, blas_int ldz, blas_int* isuppz, std::complex<R>* work, blas_int lwork,  \
       R* rwork, blas_int lrwork, blas_int* iwork, blas_int liwork),                               \
      false, lwork == -1 || lrwork == -1 || liwork == -1,                                          \
      return c_heevr<std::complex<R>>(                                                             \
          how, jobz, {range, vl, vu, il, iu}, uplo, n, a, lda, abstol, m, w, z, ldz, isuppz,       \
          eigen_space<std::complex<R>>(work, lwork, rwork, lrwork, iwork, liwork));)
CREEK_DEFINE(che, float)
CREEK_DEFINE(zhe, double)
#undef CREEK_DEFINE

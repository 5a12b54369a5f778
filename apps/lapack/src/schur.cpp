// SPDX-License-Identifier: Apache-2.0
// hseqr and gees: Schur forms of Hessenberg and of general matrices.
#include <creek/linalg/schur.hpp>

#include <algorithm>
#include <array>
#include <memory>

#include "eigenvalues.hpp"
#include "exports.hpp"
#include "workers.hpp"

namespace creek::lapack {
namespace {

/// Use of Z.
enum class vectors : char { none = 'N', from_identity = 'I', updated = 'V' };

std::optional<vectors> parse_schur_vectors(char letter) noexcept {
  const auto one = parse_letter(letter, vectors::none, vectors::from_identity);
  return one ? one : parse_letter(letter, vectors::updated, vectors::updated);
}

enum class schur_job : char { eigenvalues = 'E', schur_form = 'S' };

template <scalar T>
blas_int hseqr(char job, char compz, blas_int n, blas_int ilo, blas_int ihi, T* h, blas_int ldh,
               const eigenvalue_arrays<T>& to, T* z, blas_int ldz, const workspace<T>& space) {
  constexpr int shift = is_complex<T> ? 0 : 1;  // a second array of eigenvalues comes before z
  const auto what = parse_letter(job, schur_job::eigenvalues, schur_job::schur_form);
  const auto how = parse_schur_vectors(compz);
  if (!what) return -1;
  if (!how) return -2;
  if (n < 0) return -3;
  if (ilo < 1 || ilo > std::max<blas_int>(1, n)) return -4;
  if (ihi < std::min(ilo, n) || ihi > n) return -5;
  if (!holds(ldh, n, n)) return -7;
  const bool wanted = *how != vectors::none;
  if (ldz < 1 || (wanted && !holds(ldz, n, n))) return -10 - shift;
  if (!space.holds(n)) return -12 - shift;
  if (space.tell_length(n == 0 ? 1 : hseqr_length(n, ihi - ilo + 1), n) || n == 0) return 0;
  const matrix_view<T> Z = wanted ? matrix_view<T>(z, n, n, ldz) : matrix_view<T>();
  if (*how == vectors::from_identity) {
    for (blas_int j = 0; j < n; ++j) {
      std::fill_n(Z.column(j), n, T{});
      Z(j, j) = T{1};
    }
  }
  const bool whole = *what == schur_job::schur_form;
  const double order = ihi - ilo + 1;
  const index_t info = to.fill(n, [&](auto w) {
    return on_workers(cost<T>((whole ? 25 : 10) * order * order * order), [&] {
      // Rows outside of the active ones are not touched.
      const matrix_view<T> rows = wanted ? Z.block(ilo - 1, 0, ihi - ilo + 1, n) : Z;
      return linalg::hseqr<T>(matrix_view<T>(h, n, n, ldh), {ilo - 1, ihi}, whole, w, rows);
    });
  });
  return static_cast<blas_int>(info);
}

template <scalar T>
blas_int c_hseqr(const c_call& how, char job, char compz, blas_int n, blas_int ilo, blas_int ihi,
                 T* h, blas_int ldh, const eigenvalue_arrays<T>& w, T* z, blas_int ldz,
                 const workspace<T>& space) {
  const auto kind = parse_schur_vectors(compz);
  const bool wanted = kind && *kind != vectors::none;
  const blas_int order = wanted ? n : 0;
  return c_interface(
      how,
      [&](const operand<T>& H, const operand<T>& Z) {
        const blas_int leading = wanted ? Z.leading : absent_leading(how, ldz);
        return hseqr(job, compz, n, ilo, ihi, H.data, H.leading, w, Z.data, leading, space);
      },
      operand<T>{h, n, n, ldh, 7}, operand<T>{z, order, order, ldz, is_complex<T> ? 10 : 11});
}

/// The caller's function that selects eigenvalues: LOGICAL of the parts of a real matrix's one.
template <scalar T>
struct eigenvalue_selection {
  blas_int (*selects)(const T*);
  bool operator()(std::complex<real<T>> w) const {
    const T value = w;
    return selects(&value) != 0;
  }
};
template <scalar T>
requires(!is_complex<T>) struct eigenvalue_selection<T> {
  blas_int (*selects)(const T*, const T*);
  bool operator()(std::complex<T> w) const {
    const T re = w.real(), im = w.imag();
    return selects(&re, &im) != 0;
  }
};

/// Counts the selected eigenvalues at the top, and finds whether rounding let one slip below
/// others.
template <scalar T>
bool count_selected(std::span<const std::complex<real<T>>> w, const eigenvalue_selection<T>& select,
                    blas_int& count) {
  bool was_selected = true, is_sorted = true;
  count = 0;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const bool pair = !is_complex<T> && w[i].imag() != 0 && i + 1 < w.size();
    bool selected = select(w[i]);
    if (pair) selected |= select(w[i + 1]);
    count += selected ? (pair ? 2 : 1) : 0;
    is_sorted &= was_selected || !selected;
    was_selected = selected;
    if (pair) ++i;
  }
  return is_sorted;
}

/// Moves the selected eigenvalues to the top. In the calling thread, as their function may be one
/// of an interpreter.
template <scalar T>
blas_int sort_schur(const eigenvalue_selection<T>& select, matrix_view<T> A,
                    std::span<std::complex<real<T>>> w, matrix_view<T> V, blas_int& count) {
  const auto n = static_cast<blas_int>(w.size());
  const std::unique_ptr<bool[]> chosen(new bool[w.size()]);
  for (std::size_t i = 0; i < w.size(); ++i) chosen[i] = select(w[i]);
  const std::span<const bool> selected(chosen.get(), w.size());
  if (!linalg::trsen<T>(selected, A, w, V)) {
    count = static_cast<blas_int>(std::count(selected.begin(), selected.end(), true));
    return n + 1;
  }
  const bool is_sorted = count_selected<T>(w, select, count);
  return is_complex<T> || is_sorted ? 0 : n + 2;
}

enum class order : char { any = 'N', selected_first = 'S' };

template <scalar T>
blas_int gees(char jobvs, char sort, const eigenvalue_selection<T>& select, blas_int n, T* a,
              blas_int lda, blas_int* sdim, const eigenvalue_arrays<T>& to, T* vs, blas_int ldvs,
              const workspace<T>& space) {
  constexpr int shift = is_complex<T> ? 0 : 1;
  const auto job = parse_wanted(jobvs);
  const auto sorting = parse_letter(sort, order::any, order::selected_first);
  if (!job) return -1;
  if (!sorting) return -2;
  if (n < 0) return -4;
  if (!holds(lda, n, n)) return -6;
  const bool has_vectors = *job == wanted::yes;
  if (ldvs < 1 || (has_vectors && ldvs < n)) return -10 - shift;
  constexpr double block = 32;
  const double length = n, arrays = is_complex<T> ? length : 2 * length;
  const index_t least = index_t{n} * (is_complex<T> ? 2 : 3);
  double best = arrays + length * block;
  if (n > 0) best = std::max(best, (is_complex<T> ? 0 : length) + hseqr_length(length, length));
  if (!space.holds(least)) return -12 - shift;
  if (space.tell_length(n == 0 ? 1 : best, least)) return 0;
  if (n == 0) {
    *sdim = 0;
    return 0;
  }
  const matrix_view<T> A(a, n, n, lda);
  const matrix_view<T> V = has_vectors ? matrix_view<T>(vs, n, n, ldvs) : matrix_view<T>();
  return to.fill(n, [&](auto w) {
    const index_t failed = on_workers(cost<T>(25 * length * length * length),
                                      [&] { return linalg::gees<T>(A, w, V); });
    *sdim = 0;
    if (failed > 0 || *sorting == order::any) return static_cast<blas_int>(failed);
    return sort_schur<T>(select, A, w, V, *sdim);
  });
}

template <scalar T>
blas_int c_gees(const c_call& how, char jobvs, char sort, const eigenvalue_selection<T>& select,
                blas_int n, T* a, blas_int lda, blas_int* sdim, const eigenvalue_arrays<T>& w,
                T* vs, blas_int ldvs, const workspace<T>& space) {
  const bool has_vectors = parse_wanted(jobvs) == wanted::yes;
  const blas_int columns = has_vectors ? n : 0;
  const auto vectors = write_only(vs, columns, columns, ldvs, is_complex<T> ? 10 : 11);
  return c_interface(
      how,
      [&](const operand<T>& A, const operand<T>& V) {
        return gees(jobvs, sort, select, n, A.data, A.leading, sdim, w, V.data,
                    has_vectors ? V.leading : absent_leading(how, ldvs), space);
      },
      operand<T>{a, n, n, lda, 6}, vectors);
}

}  // namespace
}  // namespace creek::lapack

using namespace creek::lapack;

#define CREEK_DEFINE(x, T)                                                                     \
  CREEK_LAPACK(                                                                                \
      x##hseqr,                                                                                \
      (const char* job, const char* compz, in_int n, in_int ilo, in_int ihi, T* h, in_int ldh, \
       T* wr, T* wi, T* z, in_int ldz, T* work, in_int lwork, blas_int* info),                 \
      hseqr<T>(*job, *compz, *n, *ilo, *ihi, h, *ldh, {wr, wi}, z, *ldz,                       \
               workspace<T>(work, *lwork)))                                                    \
  CREEK_LAPACKE_WITH_WORK(                                                                     \
      x##hseqr, T,                                                                             \
      (int layout_number, char job, char compz, blas_int n, blas_int ilo, blas_int ihi, T* h,  \
       blas_int ldh, T* wr, T* wi, T* z, blas_int ldz),                                        \
      c_hseqr<T>(how, job, compz, n, ilo, ihi, h, ldh, {wr, wi}, z, ldz, space))
CREEK_FOR_EACH_REAL(CREEK_DEFINE)
#undef CREEK_DEFINE
#define CREEK_DEFINE(x, T)                                                                       \
  CREEK_LAPACK(x##gees,                                                                          \
               (const char* jobvs, const char* sort, blas_int (*select)(const T*, const T*),     \
                in_int n, T* a, in_int lda, blas_int* sdim, T* wr, T* wi, T* vs, in_int ldvs,    \
                T* work, in_int lwork, blas_int*, blas_int* info),                               \
               gees<T>(*jobvs, *sort, {select}, *n, a, *lda, sdim, {wr, wi}, vs, *ldvs,          \
                       workspace<T>(work, *lwork)))                                              \
  CREEK_LAPACKE_FORM(                                                                            \
      x##gees, ,                                                                                 \
      (int layout_number, char jobvs, char sort, blas_int (*select)(const T*, const T*),         \
       blas_int n, T* a, blas_int lda, blas_int* sdim, T* wr, T* wi, T* vs, blas_int ldvs),      \
      true, false, T unread{};                                                                   \
      const workspace<T> space(&unread, std::numeric_limits<blas_int>::max());                   \
      return c_gees<T>(how, jobvs, sort, {select}, n, a, lda, sdim, {wr, wi}, vs, ldvs, space);) \
  CREEK_LAPACKE_FORM(                                                                            \
      x##gees, _work,                                                                            \
      (int layout_number, char jobvs, char sort, blas_int (*select)(const T*, const T*),         \
       blas_int n, T* a, blas_int lda, blas_int* sdim, T* wr, T* wi, T* vs, blas_int ldvs,       \
       T* work, blas_int lwork, blas_int*),                                                      \
      false, lwork == -1, const workspace<T> space(work, lwork);                                 \
      return c_gees<T>(how, jobvs, sort, {select}, n, a, lda, sdim, {wr, wi}, vs, ldvs, space);)
CREEK_FOR_EACH_REAL(CREEK_DEFINE)
#undef CREEK_DEFINE

#define CREEK_DEFINE(x, T)                                                                       \
  CREEK_LAPACK(                                                                                  \
      x##hseqr,                                                                                  \
      (const char* job, const char* compz, in_int n, in_int ilo, in_int ihi, T* h, in_int ldh,   \
       T* w, T* z, in_int ldz, T* work, in_int lwork, blas_int* info),                           \
      hseqr<T>(*job, *compz, *n, *ilo, *ihi, h, *ldh, {w}, z, *ldz, workspace<T>(work, *lwork))) \
  CREEK_LAPACKE_WITH_WORK(x##hseqr, T,                                                           \
                          (int layout_number, char job, char compz, blas_int n, blas_int ilo,    \
                           blas_int ihi, T* h, blas_int ldh, T* w, T* z, blas_int ldz),          \
                          c_hseqr<T>(how, job, compz, n, ilo, ihi, h, ldh, {w}, z, ldz, space))
CREEK_FOR_EACH_COMPLEX(CREEK_DEFINE)
#undef CREEK_DEFINE
#define CREEK_DEFINE(x, T)                                                                         \
  CREEK_LAPACK(x##gees,                                                                            \
               (const char* jobvs, const char* sort, blas_int (*select)(const T*), in_int n, T* a, \
                in_int lda, blas_int* sdim, T* w, T* vs, in_int ldvs, T* work, in_int lwork,       \
                real<T>*, blas_int*, blas_int* info),                                              \
               gees<T>(*jobvs, *sort, {select}, *n, a, *lda, sdim, {w}, vs, *ldvs,                 \
                       workspace<T>(work, *lwork)))                                                \
  CREEK_LAPACKE_FORM(                                                                              \
      x##gees, ,                                                                                   \
      (int layout_number, char jobvs, char sort, blas_int (*select)(const T*), blas_int n, T* a,   \
       blas_int lda, blas_int* sdim, T* w, T* vs, blas_int ldvs),                                  \
      true, false, T unread{};                                                                     \
      const workspace<T> space(&unread, std::numeric_limits<blas_int>::max());                     \
      return c_gees<T>(how, jobvs, sort, {select}, n, a, lda, sdim, {w}, vs, ldvs, space);)        \
  CREEK_LAPACKE_FORM(                                                                              \
      x##gees, _work,                                                                              \
      (int layout_number, char jobvs, char sort, blas_int (*select)(const T*), blas_int n, T* a,   \
       blas_int lda, blas_int* sdim, T* w, T* vs, blas_int ldvs, T* work, blas_int lwork,          \
       real<T>*, blas_int*),                                                                       \
      false, lwork == -1, const workspace<T> space(work, lwork);                                   \
      return c_gees<T>(how, jobvs, sort, {select}, n, a, lda, sdim, {w}, vs, ldvs, space);)
CREEK_FOR_EACH_COMPLEX(CREEK_DEFINE)
#undef CREEK_DEFINE

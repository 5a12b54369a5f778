// SPDX-License-Identifier: Apache-2.0
// hseqr: eigenvalues and Schur forms of Hessenberg matrices.
#include <creek/linalg/schur.hpp>

#include <algorithm>

#include "eigenvalues.hpp"
#include "exports.hpp"
#include "workers.hpp"

namespace creek::lapack {
namespace {

/// Use of Z.
enum class vectors : char { none = 'N', from_identity = 'I', updated = 'V' };

std::optional<vectors> parse_vectors(char letter) noexcept {
  const auto one = parse_letter(letter, vectors::none, vectors::from_identity);
  return one ? one : parse_letter(letter, vectors::updated, vectors::updated);
}

enum class schur_job : char { eigenvalues = 'E', schur_form = 'S' };

template <scalar T>
blas_int hseqr(char job, char compz, blas_int n, blas_int ilo, blas_int ihi, T* h, blas_int ldh,
               const eigenvalue_arrays<T>& to, T* z, blas_int ldz, const workspace<T>& space) {
  constexpr int shift = is_complex<T> ? 0 : 1;  // a second array of eigenvalues comes before z
  const auto what = parse_letter(job, schur_job::eigenvalues, schur_job::schur_form);
  const auto how = parse_vectors(compz);
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
  const auto kind = parse_vectors(compz);
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

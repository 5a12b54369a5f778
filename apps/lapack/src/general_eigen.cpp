// SPDX-License-Identifier: Apache-2.0
// geev: eigenvalues and eigenvectors of general matrices.
#include <creek/linalg/schur.hpp>

#include <algorithm>

#include "eigenvalues.hpp"
#include "exports.hpp"
#include "workers.hpp"

namespace creek::lapack {
namespace {

/// Returns the length that LAPACK's geev asks for, of which this library uses none.
template <scalar T>
double geev_length(double n, bool has_vectors, double least) noexcept {
  constexpr double block = 32, vector_block = 64;
  if (n == 0) return 1;
  const double arrays = is_complex<T> ? n : 2 * n;
  const double vectors = n + 2 * n * vector_block;
  double best = std::max(arrays + n * block, least);
  if (has_vectors) best = std::max({best, arrays + (n - 1) * block, n + vectors});
  return std::max(best, (is_complex<T> ? 0 : n) + hseqr_length(n, n));
}

template <scalar T>
blas_int geev(char jobvl, char jobvr, blas_int n, T* a, blas_int lda,
              const eigenvalue_arrays<T>& to, T* vl, blas_int ldvl, T* vr, blas_int ldvr,
              const workspace<T>& space) {
  constexpr int shift = is_complex<T> ? 0 : 1;  // a second array of eigenvalues comes before vl
  const auto left = parse_wanted(jobvl), right = parse_wanted(jobvr);
  if (!left) return -1;
  if (!right) return -2;
  if (n < 0) return -3;
  if (!holds(lda, n, n)) return -5;
  const bool has_left = *left == wanted::yes, has_right = *right == wanted::yes;
  if (ldvl < 1 || (has_left && ldvl < n)) return -8 - shift;
  if (ldvr < 1 || (has_right && ldvr < n)) return -10 - shift;
  const index_t least = index_t{n} * (is_complex<T> ? 2 : has_left || has_right ? 4 : 3);
  const double best = geev_length<T>(n, has_left || has_right, static_cast<double>(least));
  if (!space.holds(least)) return -12 - shift;
  if (space.tell_length(best, least) || n == 0) return 0;
  const auto view = [n](bool has, T* v, blas_int ld) {
    return has ? matrix_view<T>(v, n, n, ld) : matrix_view<T>();
  };
  const double order = n;
  const index_t info = to.fill(n, [&](auto w) {
    const double flops = (has_left || has_right ? 25 : 10) * order * order * order;
    return on_workers(cost<T>(flops), [&] {
      return linalg::geev<T>(matrix_view<T>(a, n, n, lda), w, view(has_left, vl, ldvl),
                             view(has_right, vr, ldvr));
    });
  });
  return static_cast<blas_int>(info);
}

template <scalar T>
blas_int c_geev(const c_call& how, char jobvl, char jobvr, blas_int n, T* a, blas_int lda,
                const eigenvalue_arrays<T>& w, T* vl, blas_int ldvl, T* vr, blas_int ldvr,
                const workspace<T>& space) {
  constexpr int shift = is_complex<T> ? 0 : 1;
  const bool has_left = parse_wanted(jobvl) == wanted::yes;
  const bool has_right = parse_wanted(jobvr) == wanted::yes;
  const auto vectors = [&](bool has, T* v, blas_int ld, int position) {
    return write_only(v, has ? n : 0, has ? n : 0, ld, position);
  };
  return c_interface(
      how,
      [&](const operand<T>& A, const operand<T>& L, const operand<T>& R) {
        return geev(jobvl, jobvr, n, A.data, A.leading, w, L.data,
                    has_left ? L.leading : absent_leading(how, ldvl), R.data,
                    has_right ? R.leading : absent_leading(how, ldvr), space);
      },
      operand<T>{a, n, n, lda, 5}, vectors(has_left, vl, ldvl, 8 + shift),
      vectors(has_right, vr, ldvr, 10 + shift));
}

}  // namespace
}  // namespace creek::lapack

using namespace creek::lapack;

#define CREEK_DEFINE(x, T)                                                                      \
  CREEK_LAPACK(x##geev,                                                                         \
               (const char* jobvl, const char* jobvr, in_int n, T* a, in_int lda, T* wr, T* wi, \
                T* vl, in_int ldvl, T* vr, in_int ldvr, T* work, in_int lwork, blas_int* info), \
               geev<T>(*jobvl, *jobvr, *n, a, *lda, {wr, wi}, vl, *ldvl, vr, *ldvr,             \
                       workspace<T>(work, *lwork)))                                             \
  CREEK_LAPACKE_WITH_WORK(                                                                      \
      x##geev, T,                                                                               \
      (int layout_number, char jobvl, char jobvr, blas_int n, T* a, blas_int lda, T* wr, T* wi, \
       T* vl, blas_int ldvl, T* vr, blas_int ldvr),                                             \
      c_geev<T>(how, jobvl, jobvr, n, a, lda, {wr, wi}, vl, ldvl, vr, ldvr, space))
CREEK_FOR_EACH_REAL(CREEK_DEFINE)
#undef CREEK_DEFINE

/// The lower form of LAPACKE takes the real workspace, too.
#define CREEK_DEFINE(x, T)                                                                         \
  CREEK_LAPACK(                                                                                    \
      x##geev,                                                                                     \
      (const char* jobvl, const char* jobvr, in_int n, T* a, in_int lda, T* w, T* vl, in_int ldvl, \
       T* vr, in_int ldvr, T* work, in_int lwork, real<T>*, blas_int* info),                       \
      geev<T>(*jobvl, *jobvr, *n, a, *lda, {w}, vl, *ldvl, vr, *ldvr, workspace<T>(work, *lwork))) \
  CREEK_LAPACKE_FORM(                                                                              \
      x##geev, ,                                                                                   \
      (int layout_number, char jobvl, char jobvr, blas_int n, T* a, blas_int lda, T* w, T* vl,     \
       blas_int ldvl, T* vr, blas_int ldvr),                                                       \
      true, false, T unread{};                                                                     \
      const workspace<T> space(&unread, std::numeric_limits<blas_int>::max());                     \
      return c_geev<T>(how, jobvl, jobvr, n, a, lda, {w}, vl, ldvl, vr, ldvr, space);)             \
  CREEK_LAPACKE_FORM(                                                                              \
      x##geev, _work,                                                                              \
      (int layout_number, char jobvl, char jobvr, blas_int n, T* a, blas_int lda, T* w, T* vl,     \
       blas_int ldvl, T* vr, blas_int ldvr, T* work, blas_int lwork, real<T>*),                    \
      false, lwork == -1, const workspace<T> space(work, lwork);                                   \
      return c_geev<T>(how, jobvl, jobvr, n, a, lda, {w}, vl, ldvl, vr, ldvr, space);)
CREEK_FOR_EACH_COMPLEX(CREEK_DEFINE)
#undef CREEK_DEFINE

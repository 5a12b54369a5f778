// SPDX-License-Identifier: Apache-2.0
// gebrd; gesdd and gesvd, which use the same algorithm; gelsd.
#include <creek/linalg/svd.hpp>

#include <algorithm>
#include <span>

#include "exports.hpp"
#include "svd_workspace.hpp"
#include "workers.hpp"

namespace creek::lapack {
namespace {

/// Which vectors are wanted: none, the first ones, all, or the first ones in the place of A.
enum class svd_vectors : char { none = 'N', first = 'S', all = 'A', in_place = 'O' };

std::optional<svd_vectors> parse_svd_vectors(char letter) noexcept {
  const auto some = parse_letter(letter, svd_vectors::none, svd_vectors::first);
  return some ? some : parse_letter(letter, svd_vectors::all, svd_vectors::in_place);
}

/// Returns the operations of the reduction to bidiagonal form.
double reduction_flops(double m, double n) {
  const double k = std::min(m, n);
  return 4 * k * k * (std::max(m, n) - k / 3);
}

template <scalar T>
quiet_info decompose(svd_vectors left, svd_vectors right, index_t m, index_t n, T* a, index_t lda,
                     real<T>* s, T* u, index_t ldu, T* vt, index_t ldvt) {
  const index_t k = std::min(m, n);
  const auto count = [k](svd_vectors wanted, index_t all) {
    return wanted == svd_vectors::none ? 0 : wanted == svd_vectors::all ? all : k;
  };
  const index_t cols = count(left, m), rows = count(right, n);
  const double flops = reduction_flops(static_cast<double>(m), static_cast<double>(n));
  const index_t info = on_workers(cost<T>(cols + rows == 0 ? flops : 3 * flops), [&] {
    const matrix_view<T> A(a, m, n, lda);
    linalg::matrix<T> in_place;
    if (left == svd_vectors::in_place) in_place = linalg::matrix<T>(m, k);
    if (right == svd_vectors::in_place) in_place = linalg::matrix<T>(k, n);
    const matrix_view<T> U = left == svd_vectors::in_place
                                 ? in_place.view()
                                 : matrix_view<T>(u, m, cols, std::max<index_t>(ldu, 1));
    const matrix_view<T> VT = right == svd_vectors::in_place ? in_place.view()
                              : rows == 0                    ? matrix_view<T>(vt, 0, n, 1)
                                                             : matrix_view<T>(vt, rows, n, ldvt);
    const index_t failure = linalg::gesdd(A, std::span(s, static_cast<std::size_t>(k)), U, VT);
    if (failure != linalg::matrix_has_nan) {
      linalg::copy<T>(in_place.view(), A.block(0, 0, in_place.rows(), in_place.cols()));
    }
    return failure;
  });
  if (info == linalg::matrix_has_nan) return {0, true};
  return {static_cast<blas_int>(info)};
}

template <scalar T>
quiet_info gesdd(char jobz, blas_int m, blas_int n, T* a, blas_int lda, real<T>* s, T* u,
                 blas_int ldu, T* vt, blas_int ldvt, const workspace<T>& space) {
  const auto job = parse_svd_vectors(jobz);
  if (!job) return {-1};
  if (m < 0) return {-2};
  if (n < 0) return {-3};
  if (!holds(lda, m, n)) return {-5};
  const bool both = *job == svd_vectors::first || *job == svd_vectors::all;
  const bool in_place = *job == svd_vectors::in_place, wide = m < n;
  const blas_int k = std::min(m, n);
  if (!holds(ldu, both || (in_place && wide) ? m : 1, 1)) return {-8};
  const blas_int rows = *job == svd_vectors::all || (in_place && !wide) ? n : both ? k : 1;
  if (!holds(ldvt, rows, n)) return {-10};
  const work_lengths lengths = gesdd_lengths<T>(static_cast<char>(*job), k, std::max(m, n));
  const auto least = static_cast<index_t>(lengths.least);
  if (!space.holds(least)) return {-12};
  if (space.tell_length(lengths.best, least) || k == 0) return {0};
  const auto left = in_place && wide ? svd_vectors::all : *job;
  const auto right = in_place && !wide ? svd_vectors::all : *job;
  const quiet_info info = decompose(left, right, m, n, a, lda, s, u, ldu, vt, ldvt);
  return info.quiet ? quiet_info{-4, true} : info;
}

template <scalar T>
quiet_info gesvd(char jobu, char jobvt, blas_int m, blas_int n, T* a, blas_int lda, real<T>* s,
                 T* u, blas_int ldu, T* vt, blas_int ldvt, const workspace<T>& space) {
  const auto left = parse_svd_vectors(jobu), right = parse_svd_vectors(jobvt);
  constexpr auto in_place = svd_vectors::in_place;
  if (!left) return {-1};
  if (!right || (*left == in_place && *right == in_place)) return {-2};
  if (m < 0) return {-3};
  if (n < 0) return {-4};
  if (!holds(lda, m, n)) return {-6};
  const blas_int k = std::min(m, n);
  const auto is_stored = [](svd_vectors job) {
    return job == svd_vectors::first || job == svd_vectors::all;
  };
  if (!holds(ldu, is_stored(*left) ? m : 1, 1)) return {-9};
  if (!holds(ldvt, !is_stored(*right) ? 1 : *right == svd_vectors::all ? n : k, 1)) return {-11};
  const work_lengths lengths = gesvd_lengths<T>(
      *left != svd_vectors::none, *right != svd_vectors::none, m < n, k, std::max(m, n));
  const auto least = static_cast<index_t>(lengths.least);
  if (!space.holds(least)) return {-13};
  if (space.tell_length(lengths.best, least) || k == 0) return {0};
  const quiet_info info = decompose(*left, *right, m, n, a, lda, s, u, ldu, vt, ldvt);
  return info.quiet ? quiet_info{k, true} : info;
}

/// Stores the lengths of the other workspaces, if there are any.
template <scalar T>
blas_int gelsd(blas_int m, blas_int n, blas_int nrhs, T* a, blas_int lda, T* b, blas_int ldb,
               real<T>* s, real<T> rcond, blas_int* rank, const workspace<T>& space, real<T>* rwork,
               blas_int* iwork) {
  if (m < 0) return -1;
  if (n < 0) return -2;
  if (nrhs < 0) return -3;
  if (!holds(lda, m, n)) return -5;
  const blas_int most = std::max(m, n), k = std::min(m, n);
  if (!holds(ldb, most, nrhs)) return -7;
  const gelsd_lengths lengths = lengths_of_gelsd<T>(m, n, nrhs);
  const auto least = static_cast<index_t>(lengths.work.least);
  if (!space.holds(least)) return -12;
  if (iwork != nullptr) *iwork = static_cast<blas_int>(lengths.integers);
  if (rwork != nullptr) *rwork = static_cast<real<T>>(lengths.reals);
  if (space.tell_length(lengths.work.best, least)) return 0;
  if (k == 0) {
    *rank = 0;
    return 0;
  }
  const linalg::least_squares_rank result =
      on_workers(cost<T>(reduction_flops(m, n) + 4.0 * most * k * nrhs), [&] {
        return linalg::gelsd(matrix_view<T>(a, m, n, lda), matrix_view<T>(b, most, nrhs, ldb),
                             std::span(s, static_cast<std::size_t>(k)), rcond);
      });
  *rank = static_cast<blas_int>(result.rank);
  return result.info == linalg::matrix_has_nan ? k : static_cast<blas_int>(result.info);
}

template <scalar T>
blas_int gebrd(blas_int m, blas_int n, T* a, blas_int lda, real<T>* d, real<T>* e, T* tau_q,
               T* tau_p, const workspace<T>& space) {
  if (m < 0) return -1;
  if (n < 0) return -2;
  if (!holds(lda, m, n)) return -4;
  const blas_int k = std::min(m, n), most = std::max(m, n);
  if (!space.holds(most)) return -10;
  if (space.tell_length(svd_block * (static_cast<double>(m) + n), most) || k == 0) return 0;
  const auto count = static_cast<std::size_t>(k);
  on_workers(cost<T>(reduction_flops(m, n)), [&] {
    linalg::gebrd(matrix_view<T>(a, m, n, lda), std::span(d, count), std::span(e, count - 1),
                  std::span(tau_q, count), std::span(tau_p, count));
  });
  return 0;
}

template <scalar T>
blas_int c_gesdd(const c_call& how, char jobz, blas_int m, blas_int n, T* a, blas_int lda,
                 real<T>* s, T* u, blas_int ldu, T* vt, blas_int ldvt, const workspace<T>& space) {
  const auto job = parse_svd_vectors(jobz).value_or(svd_vectors::none);
  const bool both = job == svd_vectors::first || job == svd_vectors::all;
  const bool in_place = job == svd_vectors::in_place;
  const blas_int k = std::min(m, n);
  const bool has_u = both || (in_place && m < n), has_vt = both || (in_place && m >= n);
  const blas_int cols = job == svd_vectors::all || in_place ? m : k;
  const blas_int rows = job == svd_vectors::all || in_place ? n : k;
  return c_interface(
      how,
      [&](const operand<T>& A, const operand<T>& U, const operand<T>& VT) {
        return gesdd(jobz, m, n, A.data, A.leading, s, U.data, U.leading, VT.data, VT.leading,
                     space);
      },
      operand<T>{a, m, n, lda, 5}, write_only(u, has_u ? m : 0, has_u ? cols : 1, ldu, 8),
      write_only(vt, has_vt ? rows : 0, n, ldvt, 10));
}

template <scalar T>
blas_int c_gesvd(const c_call& how, char jobu, char jobvt, blas_int m, blas_int n, T* a,
                 blas_int lda, real<T>* s, T* u, blas_int ldu, T* vt, blas_int ldvt,
                 const workspace<T>& space) {
  const auto left = parse_svd_vectors(jobu).value_or(svd_vectors::none);
  const auto right = parse_svd_vectors(jobvt).value_or(svd_vectors::none);
  const blas_int k = std::min(m, n);
  const auto count = [k](svd_vectors job, blas_int all) {
    return job == svd_vectors::all ? all : job == svd_vectors::first ? k : blas_int{0};
  };
  const blas_int cols = count(left, m), rows = count(right, n);
  return c_interface(
      how,
      [&](const operand<T>& A, const operand<T>& U, const operand<T>& VT) {
        return gesvd(jobu, jobvt, m, n, A.data, A.leading, s, U.data, U.leading, VT.data,
                     VT.leading, space);
      },
      operand<T>{a, m, n, lda, 6},
      write_only(u, cols == 0 ? 0 : m, std::max<blas_int>(1, cols), ldu, 9),
      write_only(vt, rows, rows == 0 ? 1 : n, ldvt, 11));
}

template <scalar T>
blas_int c_gelsd(const c_call& how, blas_int m, blas_int n, blas_int nrhs, T* a, blas_int lda, T* b,
                 blas_int ldb, real<T>* s, real<T> rcond, blas_int* rank, const workspace<T>& space,
                 real<T>* rwork, blas_int* iwork) {
  return c_interface(
      how,
      [&](const operand<T>& A, const operand<T>& B) {
        return gelsd(m, n, nrhs, A.data, A.leading, B.data, B.leading, s, rcond, rank, space, rwork,
                     iwork);
      },
      operand<T>{a, m, n, lda, 5}, operand<T>{b, std::max(m, n), nrhs, ldb, 7});
}

template <scalar T>
blas_int c_gebrd(const c_call& how, blas_int m, blas_int n, T* a, blas_int lda, real<T>* d,
                 real<T>* e, T* tau_q, T* tau_p, const workspace<T>& space) {
  return c_interface(
      how,
      [&](const operand<T>& A) {
        return gebrd(m, n, A.data, A.leading, d, e, tau_q, tau_p, space);
      },
      operand<T>{a, m, n, lda, 4});
}

/// A workspace that is long enough, for the forms of LAPACKE without one.
template <scalar T>
workspace<T> any_length(T& unread) {
  return workspace<T>(&unread, std::numeric_limits<blas_int>::max());
}

template <class R>
void clear_superdiagonal(index_t m, index_t n, R* superb) {
  for (index_t i = 0; i + 1 < std::min(m, n) && superb != nullptr; ++i) superb[i] = 0;
}

}  // namespace
}  // namespace creek::lapack

using namespace creek::lapack;

// The parameters of routines for complex numbers have RWORK before the last ones.
#define CREEK_NO_RWORK(T)
#define CREEK_RWORK(T) [[maybe_unused]] creek::lapack::real<T>*rwork,

#define CREEK_DEFINE(x, T, RWORK, RWORK_OR_NULL)                                                   \
  CREEK_LAPACK(                                                                                    \
      x##gebrd,                                                                                    \
      (in_int m, in_int n, T * a, in_int lda, creek::lapack::real<T> * d,                          \
       creek::lapack::real<T> * e, T * tau_q, T * tau_p, T * work, in_int lwork, blas_int * info), \
      gebrd(*m, *n, a, *lda, d, e, tau_q, tau_p, workspace<T>(work, *lwork)))                      \
  CREEK_LAPACKE_WITH_WORK(                                                                         \
      x##gebrd, T,                                                                                 \
      (int layout_number, blas_int m, blas_int n, T* a, blas_int lda, creek::lapack::real<T>* d,   \
       creek::lapack::real<T>* e, T* tau_q, T* tau_p),                                             \
      c_gebrd(how, m, n, a, lda, d, e, tau_q, tau_p, space))                                       \
  CREEK_LAPACK(x##gesdd,                                                                           \
               (const char* job, in_int m, in_int n, T* a, in_int lda, creek::lapack::real<T>* s,  \
                T* u, in_int ldu, T* vt, in_int ldvt, T* work, in_int lwork,                       \
                RWORK(T) [[maybe_unused]] blas_int* iwork, blas_int* info),                        \
               gesdd(*job, *m, *n, a, *lda, s, u, *ldu, vt, *ldvt, workspace<T>(work, *lwork)))    \
  CREEK_LAPACKE_FORM(                                                                              \
      x##gesdd, ,                                                                                  \
      (int layout_number, char job, blas_int m, blas_int n, T* a, blas_int lda,                    \
       creek::lapack::real<T>* s, T* u, blas_int ldu, T* vt, blas_int ldvt),                       \
      true, false, T unread{};                                                                     \
      return c_gesdd(how, job, m, n, a, lda, s, u, ldu, vt, ldvt, any_length(unread));)            \
  CREEK_LAPACKE_FORM(                                                                              \
      x##gesdd, _work,                                                                             \
      (int layout_number, char job, blas_int m, blas_int n, T* a, blas_int lda,                    \
       creek::lapack::real<T>* s, T* u, blas_int ldu, T* vt, blas_int ldvt, T* work,               \
       blas_int lwork, RWORK(T) [[maybe_unused]] blas_int* iwork),                                 \
      false, lwork == -1,                                                                          \
      return c_gesdd(how, job, m, n, a, lda, s, u, ldu, vt, ldvt, workspace<T>(work, lwork));)     \
  CREEK_LAPACK(                                                                                    \
      x##gesvd,                                                                                    \
      (const char* jobu, const char* jobvt, in_int m, in_int n, T* a, in_int lda,                  \
       creek::lapack::real<T>* s, T* u, in_int ldu, T* vt, in_int ldvt, T* work, in_int lwork,     \
       RWORK(T) blas_int* info),                                                                   \
      gesvd(*jobu, *jobvt, *m, *n, a, *lda, s, u, *ldu, vt, *ldvt, workspace<T>(work, *lwork)))    \
  CREEK_LAPACKE_FORM(                                                                              \
      x##gesvd, ,                                                                                  \
      (int layout_number, char jobu, char jobvt, blas_int m, blas_int n, T* a, blas_int lda,       \
       creek::lapack::real<T>* s, T* u, blas_int ldu, T* vt, blas_int ldvt,                        \
       creek::lapack::real<T>* superb),                                                            \
      true, false, T unread{};                                                                     \
      clear_superdiagonal(m, n, superb);                                                           \
      return c_gesvd(how, jobu, jobvt, m, n, a, lda, s, u, ldu, vt, ldvt, any_length(unread));)    \
  CREEK_LAPACKE_FORM(x##gesvd, _work,                                                              \
                     (int layout_number, char jobu, char jobvt, blas_int m, blas_int n, T* a,      \
                      blas_int lda, creek::lapack::real<T>* s, T* u, blas_int ldu, T* vt,          \
                      blas_int ldvt, T* work, RWORK##_LAST(T)),                                    \
                     false, lwork == -1,                                                           \
                     return c_gesvd(how, jobu, jobvt, m, n, a, lda, s, u, ldu, vt, ldvt,           \
                                    workspace<T>(work, lwork));)                                   \
  CREEK_LAPACK(x##gelsd,                                                                           \
               (in_int m, in_int n, in_int nrhs, T * a, in_int lda, T * b, in_int ldb,             \
                creek::lapack::real<T> * s, const creek::lapack::real<T>* rcond, blas_int* rank,   \
                T* work, in_int lwork, RWORK(T) blas_int* iwork, blas_int* info),                  \
               gelsd<T>(*m, *n, *nrhs, a, *lda, b, *ldb, s, *rcond, rank,                          \
                        workspace<T>(work, *lwork), RWORK_OR_NULL, iwork))                         \
  CREEK_LAPACKE_FORM(                                                                              \
      x##gelsd, ,                                                                                  \
      (int layout_number, blas_int m, blas_int n, blas_int nrhs, T* a, blas_int lda, T* b,         \
       blas_int ldb, creek::lapack::real<T>* s, creek::lapack::real<T> rcond, blas_int* rank),     \
      true, false, T unread{};                                                                     \
      return c_gelsd<T>(how, m, n, nrhs, a, lda, b, ldb, s, rcond, rank, any_length(unread),       \
                        nullptr, nullptr);)                                                        \
  CREEK_LAPACKE_FORM(                                                                              \
      x##gelsd, _work,                                                                             \
      (int layout_number, blas_int m, blas_int n, blas_int nrhs, T* a, blas_int lda, T* b,         \
       blas_int ldb, creek::lapack::real<T>* s, creek::lapack::real<T> rcond, blas_int* rank,      \
       T* work, blas_int lwork, RWORK(T) blas_int* iwork),                                         \
      false, lwork == -1,                                                                          \
      return c_gelsd<T>(how, m, n, nrhs, a, lda, b, ldb, s, rcond, rank,                           \
                        workspace<T>(work, lwork), RWORK_OR_NULL, iwork);)
#define CREEK_NO_RWORK_LAST(T) creek::lapack::blas_int lwork
#define CREEK_RWORK_LAST(T) \
  creek::lapack::blas_int lwork, [[maybe_unused]] creek::lapack::real<T>*rwork
#define CREEK_DEFINE_REAL(x, T) CREEK_DEFINE(x, T, CREEK_NO_RWORK, nullptr)
#define CREEK_DEFINE_COMPLEX(x, T) CREEK_DEFINE(x, T, CREEK_RWORK, rwork)
CREEK_FOR_EACH_REAL(CREEK_DEFINE_REAL)
CREEK_FOR_EACH_COMPLEX(CREEK_DEFINE_COMPLEX)
#undef CREEK_DEFINE_REAL
#undef CREEK_DEFINE_COMPLEX
#undef CREEK_DEFINE

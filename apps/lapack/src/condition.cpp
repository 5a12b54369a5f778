// SPDX-License-Identifier: Apache-2.0
// gecon, pocon, trcon.
#include <creek/linalg/condition.hpp>

#include "exports.hpp"
#include "spare_array.hpp"
#include "workers.hpp"

namespace creek::lapack {
namespace {

using linalg::norm;

/// Parses the norm of a condition number: '1', 'O' or 'I'.
std::optional<norm> parse_norm(char letter) noexcept {
  enum class letters : char { one = 'O', inf = 'I' };
  if (letter == '1') return norm::one;
  const auto found = parse_letter(letter, letters::one, letters::inf);
  if (!found) return std::nullopt;
  return *found == letters::one ? norm::one : norm::inf;
}

/// Returns WORK as the memory of an estimate; none if the caller has none.
template <scalar T>
std::span<T> memory_of(T* work, blas_int n) noexcept {
  if (work == nullptr) return {};
  return {work, static_cast<std::size_t>(linalg::condition_work_size<T>(n))};
}

// Estimates take too little time for workers.

template <scalar T>
blas_int gecon(char letter, blas_int n, const T* a, blas_int lda, real<T> anorm, real<T>* rcond,
               T* work) {
  const auto which = parse_norm(letter);
  if (!which) return -1;
  if (n < 0) return -2;
  if (!holds(lda, n, n)) return -4;
  if (anorm < 0) return -5;
  *rcond = static_cast<real<T>>(
      linalg::gecon<T>(*which, const_view<T>(a, n, n, lda), anorm, memory_of(work, n)));
  return 0;
}

template <scalar T>
blas_int pocon(char uplo, blas_int n, const T* a, blas_int lda, real<T> anorm, real<T>* rcond,
               T* work) {
  const auto stored = parse_triangle(uplo);
  if (!stored) return -1;
  if (n < 0) return -2;
  if (!holds(lda, n, n)) return -4;
  if (anorm < 0) return -5;
  *rcond = static_cast<real<T>>(
      linalg::pocon<T>(*stored, const_view<T>(a, n, n, lda), anorm, memory_of(work, n)));
  return 0;
}

template <scalar T>
blas_int trcon(char letter, char uplo, char diag, blas_int n, const T* a, blas_int lda,
               real<T>* rcond, T* work) {
  const auto which = parse_norm(letter);
  const auto stored = parse_triangle(uplo);
  const auto ones = parse_diagonal(diag);
  if (!which) return -1;
  if (!stored) return -2;
  if (!ones) return -3;
  if (n < 0) return -4;
  if (!holds(lda, n, n)) return -6;
  *rcond = static_cast<real<T>>(
      linalg::trcon<T>(*which, *stored, *ones, const_view<T>(a, n, n, lda), memory_of(work, n)));
  return 0;
}

/// Returns |A| as an argument that may be NaN, which LAPACKE looks for.
template <scalar T>
operand<T> norm_argument(const c_call& how, const T& anorm) {
  return read_only_vector(how.given_layout, &anorm, 1, 6);
}

template <scalar T>
blas_int c_gecon(const c_call& how, char letter, blas_int n, const T* a, blas_int lda,
                 real<T> anorm, real<T>* rcond, T* work) {
  const T size = anorm;
  return c_interface(
      how,
      [&](const operand<T>& A, const operand<T>&) {
        return gecon<T>(letter, n, A.data, A.leading, anorm, rcond, work);
      },
      read_only(a, n, n, lda, 4), norm_argument(how, size));
}

template <scalar T>
blas_int c_pocon(const c_call& how, char uplo, blas_int n, const T* a, blas_int lda, real<T> anorm,
                 real<T>* rcond, T* work) {
  const T size = anorm;
  return c_interface(
      how,
      [&](const operand<T>& A, const operand<T>&) {
        return pocon<T>(uplo, n, A.data, A.leading, anorm, rcond, work);
      },
      read_only(a, n, n, lda, 4, region::of_triangle(uplo)), norm_argument(how, size));
}

template <scalar T>
blas_int c_trcon(const c_call& how, char letter, char uplo, char diag, blas_int n, const T* a,
                 blas_int lda, real<T>* rcond, T* work) {
  return c_interface(
      how,
      [&](const operand<T>& A) {
        return trcon<T>(letter, uplo, diag, n, A.data, A.leading, rcond, work);
      },
      read_only(a, n, n, lda, 6, region::of_triangle(uplo, diag)));
}

}  // namespace
}  // namespace creek::lapack

using namespace creek::lapack;

#define CREEK_DEFINE(x, T)                                                                      \
  CREEK_LAPACK(x##gecon,                                                                        \
               (const char* norm, in_int n, const T* a, in_int lda, const real<T>* anorm,       \
                real<T>* rcond, T* work, spare_array<T>, blas_int* info),                       \
               gecon(*norm, *n, a, *lda, *anorm, rcond, work))                                  \
  CREEK_LAPACKE_WITH_SPARE(x##gecon, T,                                                         \
                           (int layout_number, char norm, blas_int n, const T* a, blas_int lda, \
                            real<T> anorm, real<T>* rcond),                                     \
                           c_gecon<T>(how, norm, n, a, lda, anorm, rcond, work))                \
  CREEK_LAPACK(x##pocon,                                                                        \
               (const char* uplo, in_int n, const T* a, in_int lda, const real<T>* anorm,       \
                real<T>* rcond, T* work, spare_array<T>, blas_int* info),                       \
               pocon(*uplo, *n, a, *lda, *anorm, rcond, work))                                  \
  CREEK_LAPACKE_WITH_SPARE(x##pocon, T,                                                         \
                           (int layout_number, char uplo, blas_int n, const T* a, blas_int lda, \
                            real<T> anorm, real<T>* rcond),                                     \
                           c_pocon<T>(how, uplo, n, a, lda, anorm, rcond, work))                \
  CREEK_LAPACK(x##trcon,                                                                        \
               (const char* norm, const char* uplo, const char* diag, in_int n, const T* a,     \
                in_int lda, real<T>* rcond, T* work, spare_array<T>, blas_int* info),           \
               trcon(*norm, *uplo, *diag, *n, a, *lda, rcond, work))                            \
  CREEK_LAPACKE_WITH_SPARE(x##trcon, T,                                                         \
                           (int layout_number, char norm, char uplo, char diag, blas_int n,     \
                            const T* a, blas_int lda, real<T>* rcond),                          \
                           c_trcon<T>(how, norm, uplo, diag, n, a, lda, rcond, work))
CREEK_FOR_EACH_SCALAR(CREEK_DEFINE)
#undef CREEK_DEFINE

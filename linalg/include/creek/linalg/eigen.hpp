// SPDX-License-Identifier: Apache-2.0
// Eigenvalues and eigenvectors of Hermitian matrices (real: symmetric ones), and of real symmetric
// tridiagonal ones.
//
// Threads and errors as in blas3.hpp. Only the triangle `stored` of a matrix is read, and the
// imaginary parts of its diagonal count as 0. Eigenvalues are in ascending order, eigenvectors have
// length 1. A result `info` is 0, or positive if the iteration did not converge, as for NaN and
// infinities; then the eigenvalues are undefined.
#pragma once

#include <span>

#include <creek/linalg/blas3.hpp>
#include <creek/linalg/matrix.hpp>

namespace creek::linalg {

/// Whether eigenvectors are computed.
enum class eigen_job : char { values = 'N', vectors = 'V' };

/// w becomes the eigenvalues of A, n of them; A becomes the eigenvectors, column by column, or with
/// eigen_job::values its triangle is destroyed. LAPACK's heevd, syevd.
template <scalar T>
[[nodiscard]] index_t heevd(eigen_job job, triangle stored, matrix_view<T> A, std::span<real<T>> w);

/// Part of a spectrum: all of it, the eigenvalues in (low, high], or those with the indices
/// [first, last) in ascending order.
struct eigen_range {
  enum class kind : char { all = 'A', values = 'V', indices = 'I' };
  kind by = kind::all;
  double low = 0, high = 0;
  index_t first = 0, last = 0;
};

struct eigen_result {
  index_t info;
  index_t count;  ///< eigenvalues found
};

/// Computes the eigenvalues in a range, w[0, count), and their eigenvectors, the first columns of
/// Z, which needs as many (range values: n); with eigen_job::values Z is not used. The triangle of
/// A is destroyed; with eigen_job::vectors, all of A. w has n elements. LAPACK's heevr, syevr.
template <scalar T>
[[nodiscard]] eigen_result heevr(eigen_job job, const eigen_range& range, triangle stored,
                                 matrix_view<T> A, std::span<real<T>> w, matrix_view<T> Z);

/// Eigenproblem of two matrices, of which B is positive definite. The numbers are LAPACK's ITYPE.
enum class eigen_equation : int {
  ax_is_wbx = 1,  ///< A x = w B x
  abx_is_wx = 2,  ///< A B x = w x
  bax_is_wx = 3   ///< B A x = w x
};

/// Replaces A by the matrix of the standard problem with the same eigenvalues: by inv(L) A inv(L^H)
/// or inv(U^H) A inv(U) for ax_is_wbx, else by L^H A L or U A U^H. The triangle `stored` of `B` has
/// the factor L or U from potrf of the problem's B. LAPACK's hegst, sygst.
template <scalar T>
void hegst(eigen_equation equation, triangle stored, matrix_view<T> A, input<T> B);

/// Like heevd for the eigenvalues w and the eigenvectors X of an equation with two matrices. X^H B
/// X is the identity, for bax_is_wx X^H inv(B) X. The triangle of B becomes its Cholesky factor.
/// Returns n + i if the leading minor of order i of B is not positive; A is unchanged then.
/// LAPACK's hegvd, sygvd.
template <scalar T>
[[nodiscard]] index_t hegvd(eigen_equation equation, eigen_job job, triangle stored,
                            matrix_view<T> A, matrix_view<T> B, std::span<real<T>> w);

/// A = Q T Q^H: d becomes the diagonal of T (n elements), e its off-diagonal (n - 1). The triangle
/// of A becomes that of T and the reflectors of Q, with factors tau (n - 1), as those of LAPACK's
/// hetrd.
template <scalar T>
void hetrd(triangle stored, matrix_view<T> A, std::span<real<T>> d, std::span<real<T>> e,
           std::span<T> tau);

/// Replaces the reflectors of hetrd in A by Q. LAPACK's ungtr, orgtr.
template <scalar T>
void orgtr(triangle stored, matrix_view<T> A, std::span<const T> tau);

/// C = op(Q) C (left) or C op(Q) (right) with the Q of hetrd; how is none or conjugate_transpose
/// (for real T also transpose). LAPACK's unmtr, ormtr.
template <scalar T>
void ormtr(side where, triangle stored, op how, input<T> A, std::span<const T> tau,
           matrix_view<T> C);

/// d becomes the eigenvalues of the tridiagonal matrix with diagonal d and off-diagonal e, which is
/// destroyed. LAPACK's sterf.
template <class R>
[[nodiscard]] index_t sterf(std::span<R> d, std::span<R> e);

/// Like sterf; Z becomes Z times the eigenvectors, or these if `from_identity`. Z has as many
/// columns as d elements. By divide and conquer. LAPACK's stedc.
template <scalar T>
[[nodiscard]] index_t stedc(std::span<real<T>> d, std::span<real<T>> e, matrix_view<T> Z,
                            bool from_identity);

}  // namespace creek::linalg

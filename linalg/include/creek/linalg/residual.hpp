// SPDX-License-Identifier: Apache-2.0
// Accuracy of results: norms, and residuals scaled as in LAPACK's test programs and HPL, so that a
// good result gives about 1 or less at any size and in any precision.
#pragma once

#include <creek/linalg/matrix.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>

namespace creek::linalg {

enum class norm {
  one,       ///< the largest sum of a column's magnitudes
  inf,       ///< the largest sum of a row's magnitudes
  max,       ///< the largest magnitude
  frobenius  ///< the root of the sum of squares, without overflow on the way
};

/// Computes a norm in double, in rows * cols operations: NaN if an element is, 0 if `a` is empty.
template <scalar T>
double norm_of(norm which, const_view<T> a);

/// Computes a norm of the Hermitian (real: symmetric) matrix of which only the triangle
/// `stored` is read; takes the imaginary parts of the diagonal for 0. LAPACK's xLANHE, xLANSY.
template <scalar T>
double norm_of_hermitian(norm which, triangle stored, const_view<T> a);

/// Computes a norm of a triangle or trapezoid; other elements count as 0. LAPACK's xLANTR.
template <scalar T>
double norm_of_triangular(norm which, triangle stored, diagonal ones, const_view<T> a);

/// Relative machine epsilon, as LAPACK's xLAMCH('E'): half the distance from 1 to the next number.
template <scalar T>
inline constexpr double unit_roundoff = std::numeric_limits<real<T>>::epsilon() / 2;

/// Largest residual that passes: the threshold of LAPACK's test programs, and that of HPL for
/// solve_residual.
inline constexpr double lapack_threshold = 30;
inline constexpr double hpl_threshold = 16;

/// Returns whether the residual is within the threshold; false for NaN.
inline bool passes(double residual, double threshold = lapack_threshold) noexcept {
  return residual <= threshold;
}

/// How the norm of an error matrix E, a difference of products, is computed. Exactly: all of E, in
/// its one-norm, by O(n^3) plain operations. Otherwise E is applied to random vectors x of +1 and
/// -1, O(n^2) each: the mean of |E x|^2 is an unbiased estimate of the squared Frobenius norm,
/// which then replaces the one-norm everywhere [Girard 1989] [Hutchinson 1990]. An error in a
/// single element is always found, several that cancel with probability 1 - 2^-vectors.
struct residual_options {
  index_t exact_up_to = 300;  ///< largest rows and columns of an exact norm
  int vectors = 4;
  std::uint64_t seed = 1;  ///< seed of the vectors
};

// All functions below throw creek::usage_error for shapes that do not match, and return 0 for empty
// matrices, NaN if an operand has one, and 1 / eps for a wrong factorization of zero. Sums are kept
// in double. They run in one thread; memory is a few columns.

/// Returns |L U - P A| / (n |A| eps), n columns. `lu` as xGETRF leaves it, of any shape; row i was
/// exchanged with row ipiv[i] (0-based), in the order of i. Infinite if an ipiv[i] is not a row of
/// the matrix.
template <scalar T>
double lu_residual(const_view<T> a, const_view<T> lu, std::span<const index_t> ipiv,
                   const residual_options& options = {});

/// Returns |L L' - A| or |U' U - A|, over (n |A| eps). Reads only the triangle `which` of both.
template <scalar T>
double cholesky_residual(triangle which, const_view<T> a, const_view<T> factor,
                         const residual_options& options = {});

/// Function that overwrites a block X of m rows with Q X (op::none) or Q' X
/// (op::conjugate_transpose), where Q is m x m, as xORMQR and xUNMQR do.
template <scalar T>
using orthogonal_operator = std::function<void(op, matrix_view<T>)>;

/// Returns |A - Q R| / (m |A| eps), where A is m x n, Q is m x k with explicit columns, and R is
/// the upper triangle or trapezoid of the first k rows of `r`, 0 < k <= m.
template <scalar T>
double qr_residual(const_view<T> a, const_view<T> q, const_view<T> r,
                   const residual_options& options = {});
/// Same with Q as a function; R is the upper triangle of the m x n matrix `r`, as xGEQRF leaves
/// it.
template <scalar T>
double qr_residual(const_view<T> a, const orthogonal_operator<T>& q, const_view<T> r,
                   const residual_options& options = {});

/// Returns |I - Q' Q| / (m eps), where Q is m x k.
template <scalar T>
double orthogonality(const_view<T> q, const residual_options& options = {});
/// Same with an m x m Q as a function.
template <scalar T>
double orthogonality(index_t m, const orthogonal_operator<T>& q,
                     const residual_options& options = {});

/// Returns the maximum over the columns of x and b of |b - A x|_inf / (n eps (|A|_inf |x|_inf +
/// |b|_inf)), like HPL. A must be square.
template <scalar T>
double solve_residual(const_view<T> a, const_view<T> x, const_view<T> b);

}  // namespace creek::linalg

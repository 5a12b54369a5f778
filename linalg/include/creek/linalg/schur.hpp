// SPDX-License-Identifier: Apache-2.0
// Eigenvalues of general matrices: balancing, the Hessenberg form, the Schur form and
// eigenvectors.
//
// Threads and errors as in blas3.hpp. The definitions, and the order of eigenvalues, are LAPACK's.
#pragma once

#include <complex>
#include <span>

#include <creek/linalg/blas3.hpp>
#include <creek/linalg/matrix.hpp>

namespace creek::linalg {

/// Rows and columns [first, end) of a square matrix, which is upper triangular outside of them.
struct active_rows {
  index_t first = 0;
  index_t end = 0;
};

/// Steps of balancing: permutations that isolate eigenvalues, and scaling by powers of two.
enum class balancing : char { none = 'N', permute = 'P', scale = 'S', both = 'B' };

/// Result of gebal: the rows that are not triangular yet. `is_finite` is false if a NaN was met;
/// then A is balanced in part only.
struct balanced_rows {
  active_rows active;
  bool is_finite = true;
};

/// Balances the square matrix A. `scale` has its order: the factors of the active rows, and for the
/// others the 1-based number of the row that each was exchanged with.
/// Source: LAPACK 3.11's gebal [James 2014].
template <scalar T>
balanced_rows gebal(balancing how, matrix_view<T> A, std::span<real<T>> scale);

/// Replaces right (left) eigenvectors V of a balanced matrix by those of the original one.
template <scalar T>
void gebak(balancing how, side which, active_rows active, std::span<const real<T>> scale,
           matrix_view<T> V);

/// A = Q H Q^H with H upper Hessenberg; 10 n^3 / 3 flops. A becomes H, and below the subdiagonal
/// the vectors of the reflectors whose product is Q. `tau` has n - 1 elements for the order n.
/// Source: [Quintana-Orti 2006].
template <scalar T>
void gehrd(matrix_view<T> A, active_rows active, std::span<T> tau);

/// Replaces the result of gehrd by Q.
template <scalar T>
void orghr(matrix_view<T> A, active_rows active, std::span<const T> tau);

/// C = op(Q) C (left) or C op(Q) (right) for the Q of gehrd; how is none or conjugate_transpose
/// (for real T also transpose).
template <scalar T>
void ormhr(side where, op how, active_rows active, input<T> A, std::span<const T> tau,
           matrix_view<T> C);

/// Computes the eigenvalues w of a Hessenberg matrix H, and if `whole` its Schur form: H becomes T,
/// upper triangular for complex numbers; for real ones a pair of conjugate eigenvalues, the one
/// with the positive imaginary part first, is a block [a b; c a] with b c < 0. The rows of Z, which
/// may be none, are multiplied by the unitary matrix U for which H = U T U^H. Returns 0, or k if
/// only eigenvalues [0, active.first) and [k, n) were found; then H is only similar to what it was.
/// Source: [Braman 2002].
template <scalar T>
[[nodiscard]] index_t hseqr(matrix_view<T> H, active_rows active, bool whole,
                            std::span<std::complex<real<T>>> w, matrix_view<T> Z = {});

/// A = U T U^H with the Schur form T of hseqr. A becomes T, w its eigenvalues, V becomes U if it
/// has rows. Returns 0, or k if only eigenvalues [k, n) converged.
template <scalar T>
[[nodiscard]] index_t gees(matrix_view<T> A, std::span<std::complex<real<T>>> w,
                           matrix_view<T> V = {});

/// Moves the eigenvalues w of a Schur form A that are selected, by their numbers, to the top, by
/// unitary transformations of A and of the columns of V, which may have no rows. A conjugate pair
/// of a real A moves if one of it is selected. Returns false if two blocks were too close to be
/// exchanged: then some have moved only.
template <scalar T>
[[nodiscard]] bool trsen(std::span<const bool> selected, matrix_view<T> A,
                         std::span<std::complex<real<T>>> w, matrix_view<T> V = {});

/// Multiplies V, the unitary factor of a Schur form A (or any matrix), by the right or left
/// eigenvectors of A. Those of a conjugate pair of eigenvalues of a real A are two columns, the
/// real and the imaginary part of the vector of the first one.
template <scalar T>
void trevc(side which, input<T> A, matrix_view<T> V);

/// Computes the eigenvalues w of A, and the left and right eigenvectors, of Euclidean norm 1 and
/// with a real largest element, in the views that have rows. For real T two columns are the parts
/// of the vector of the first of a conjugate pair. A is overwritten. Returns 0, or k if only
/// eigenvalues [k, n) converged; there are no vectors then.
template <scalar T>
[[nodiscard]] index_t geev(matrix_view<T> A, std::span<std::complex<real<T>>> w,
                           matrix_view<T> left = {}, matrix_view<T> right = {});

}  // namespace creek::linalg

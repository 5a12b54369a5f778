// SPDX-License-Identifier: Apache-2.0
// Products and triangular systems of matrices: the level 3 of the BLAS, under its names.
//
// All routines run on the workers of the creek::runtime that the caller runs in, or in the calling
// thread outside of one. T is float, double, or a complex number of them. A matrix that is written
// must not overlap another argument. Throws usage_error for shapes that do not fit, before anything
// is changed. std::bad_alloc leaves results half done: products take a few MB per worker for
// packing, factorizations up to another half of the matrix (LU, Cholesky) or the whole of it (QR),
// as panels stay packed until all updates by them are done. With `beta` == 0 the result is not
// read: a NaN in it does not spread.
#pragma once

#include <type_traits>

#include <creek/linalg/matrix.hpp>

namespace creek::linalg {

/// Argument from which T is not deduced.
template <class T>
using input = const_view<std::type_identity_t<T>>;
template <class T>
using factor = std::type_identity_t<T>;

/// C = alpha op(A) op(B) + beta C. op(A) is m x k, op(B) k x n, C m x n; 2mnk flops.
template <scalar T>
void gemm(op how_a, op how_b, factor<T> alpha, input<T> A, input<T> B, factor<T> beta,
          matrix_view<T> C);

/// C = alpha A B + beta C (left) or alpha B A + beta C (right), where A is symmetric and only its
/// triangle `stored` is read.
template <scalar T>
void symm(side where, triangle stored, factor<T> alpha, input<T> A, input<T> B, factor<T> beta,
          matrix_view<T> C);

/// Like symm with a Hermitian A; takes the imaginary parts of its diagonal for 0.
template <scalar T>
void hemm(side where, triangle stored, factor<T> alpha, input<T> A, input<T> B, factor<T> beta,
          matrix_view<T> C);

/// C = alpha A A^T + beta C (how = none) or alpha A^T A + beta C (transpose), in the triangle
/// `stored` of C; the other triangle is neither read nor written.
template <scalar T>
void syrk(triangle stored, op how, factor<T> alpha, input<T> A, factor<T> beta, matrix_view<T> C);

/// Like syrk with A^H; the diagonal becomes real. how is none or conjugate_transpose.
template <scalar T>
void herk(triangle stored, op how, real<T> alpha, input<T> A, real<T> beta, matrix_view<T> C);

/// C = alpha (A B^T + B A^T) + beta C (none) or alpha (A^T B + B^T A) + beta C (transpose).
template <scalar T>
void syr2k(triangle stored, op how, factor<T> alpha, input<T> A, input<T> B, factor<T> beta,
           matrix_view<T> C);

/// C = alpha A B^H + conj(alpha) B A^H + beta C (none), or with A^H B (conjugate_transpose).
template <scalar T>
void her2k(triangle stored, op how, factor<T> alpha, input<T> A, input<T> B, real<T> beta,
           matrix_view<T> C);

/// B = alpha op(A) B (left) or alpha B op(A) (right) with A triangular.
template <scalar T>
void trmm(side where, triangle stored, op how, diagonal ones, factor<T> alpha, input<T> A,
          matrix_view<T> B);

/// Solves op(A) X = alpha B (left) or X op(A) = alpha B (right) with A triangular; B becomes X. A
/// zero on the diagonal gives infinities and NaN, as in the BLAS.
template <scalar T>
void trsm(side where, triangle stored, op how, diagonal ones, factor<T> alpha, input<T> A,
          matrix_view<T> B);

/// Returns the instruction set that the products use on this processor, such as "AVX3".
const char* kernel_instructions() noexcept;

/// Shape of the block of a product that the innermost loop keeps in registers.
struct micro_tile_shape {
  index_t rows, cols;
};
template <scalar T>
micro_tile_shape micro_tile() noexcept;

}  // namespace creek::linalg

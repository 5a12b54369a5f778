// SPDX-License-Identifier: Apache-2.0
// Products and triangular systems of matrices: the level 3 of the BLAS, under its names.
//
// All of them run on the workers of the creek::runtime that the caller runs in, and in the calling
// thread where there is none. T is float, double, or a complex number of them. Matrices that are
// written overlap no other argument. Shapes that do not fit are misuse: usage_error, before
// anything is changed. std::bad_alloc leaves results half done: products
// take a few MB a worker for packing, factorizations up to another half of the matrix (LU,
// Cholesky) or the whole of it (QR), as panels stay packed until all updates by them are made.
// Where `beta` is 0 the result is not read, so that NaN in it does not matter.
#pragma once

#include <type_traits>

#include <creek/linalg/matrix.hpp>

namespace creek::linalg {

/// An argument that takes no part in finding out T.
template <class T>
using input = const_view<std::type_identity_t<T>>;
template <class T>
using factor = std::type_identity_t<T>;

/// C = alpha op(A) op(B) + beta C. op(A) is m x k, op(B) k x n, C m x n; 2mnk flops.
template <scalar T>
void gemm(op how_a, op how_b, factor<T> alpha, input<T> A, input<T> B, factor<T> beta,
          matrix_view<T> C);

/// C = alpha A B + beta C (left) or alpha B A + beta C (right) with A symmetric, of which only the
/// triangle `stored` is read.
template <scalar T>
void symm(side where, triangle stored, factor<T> alpha, input<T> A, input<T> B, factor<T> beta,
          matrix_view<T> C);

/// The same with A Hermitian; the imaginary parts of its diagonal are taken for 0.
template <scalar T>
void hemm(side where, triangle stored, factor<T> alpha, input<T> A, input<T> B, factor<T> beta,
          matrix_view<T> C);

/// C = alpha A A^T + beta C (how = none) or alpha A^T A + beta C (transpose), the triangle `stored`
/// of it; the other is neither read nor written.
template <scalar T>
void syrk(triangle stored, op how, factor<T> alpha, input<T> A, factor<T> beta, matrix_view<T> C);

/// The same with A^H; the diagonal comes out real. how is none or conjugate_transpose.
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

/// The instruction set that the products use on this processor, such as "AVX3".
const char* tile_instructions() noexcept;

/// Rows and columns of a product that its innermost loop keeps in registers.
struct tile_shape {
  index_t rows, cols;
};
template <scalar T>
tile_shape product_tile() noexcept;

}  // namespace creek::linalg

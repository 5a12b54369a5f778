// SPDX-License-Identifier: Apache-2.0
// Inputs of the LAPACK calls and checks of their results, which share no code with a library. All
// matrices are column-major without gaps between columns. A check multiplies what the routine
// returned by a vector and compares the result with the input times that vector.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum input { INPUT_A = 1, INPUT_B = 2, INPUT_RIGHT_SIDE = 4, INPUT_VECTOR = 5 };

/// Returns room for `count` doubles. Ends the process if there is none.
double* room(int64_t count);
/// Returns `count` elements, uniform in [-0.5, 0.5): the same in each process.
double* filled(enum input which, int64_t count);
/// Returns a symmetric matrix, positive definite because n on the diagonal outweighs its row.
double* positive_definite(int64_t n);

/// A residual that a check accepts is below this number; one that is not a number is not below it.
#define MAX_RESIDUAL 16

/// Each returns the error relative to eps max(m, n) times the norms of the operands.
/// For A, m by n with m >= n, as dgetrf leaves L, U and the exchanged rows, which count from 1.
double lu_residual(const double* a, const double* factors, const int64_t* pivots, int64_t m,
                   int64_t n);
/// For symmetric A with the factor in the upper or lower triangle.
double cholesky_residual(const double* a, const double* factor, int64_t n, bool upper);
/// For A, m by n with m >= n, as dgeqrf leaves R and the reflectors.
double qr_residual(const double* a, const double* factors, const double* tau, int64_t m, int64_t n);
/// For C = A B.
double product_residual(const double* a, const double* b, const double* c, int64_t n);
/// For the lower triangle of C = A A^T.
double rank_update_residual(const double* a, const double* c, int64_t n);
/// For A x = b.
double solution_residual(const double* a, const double* x, const double* b, int64_t n);
/// For x, n elements, that minimises ||A x - b||: the error is A^T (A x - b).
double least_squares_residual(const double* a, const double* x, const double* b, int64_t m,
                              int64_t n);
/// For A V = V diag(values) with orthogonal V, symmetric A and ascending values.
double symmetric_eigen_residual(const double* a, const double* values, const double* vectors,
                                int64_t n);
/// For A V = V D as dgeev leaves both: a pair of conjugate values has the real and the imaginary
/// part of its vector in two columns. Columns or pairs of them have the norm 1.
double eigen_residual(const double* a, const double* real_parts, const double* imaginary_parts,
                      const double* vectors, int64_t n);
/// For A = U diag(values) V^T with square, orthogonal U and V^T and descending values.
double singular_residual(const double* a, const double* values, const double* u, const double* vt,
                         int64_t n);

#ifdef __cplusplus
}
#endif

// SPDX-License-Identifier: Apache-2.0
// Integers are passed as pointers to 64-bit ones, of which a library with 32-bit integers reads the
// low half, and `info` begins as 0 in both halves: one call serves both kinds of libraries. Lengths
// of Fortran's character arguments come last.
#include "routines.h"

#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "decompositions.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the low half comes first");

static const double one = 1, zero = 0;
static const int64_t single = 1;

static int64_t elements(const struct problem* p) {
  return p->rows * p->columns;
}

void reset_matrix(struct problem* p) {
  memcpy(p->a, p->input, sizeof *p->a * (size_t)elements(p));
}
void reset_system(struct problem* p) {
  reset_matrix(p);
  memcpy(p->b, p->second, sizeof *p->b * (size_t)p->rows);
}
/// For results that no call reads.
static void reset_nothing(struct problem* p) {
  (void)p;
}

static void make_matrix(struct problem* p) {
  p->input = filled(INPUT_A, elements(p));
  p->a = room(elements(p));
  p->tau = room(p->columns);
  p->pivots = (int64_t*)room(p->columns);
}
static void make_positive_definite(struct problem* p) {
  p->input = positive_definite(p->columns);
  p->a = room(elements(p));
}
static void make_system(struct problem* p) {
  make_matrix(p);
  p->second = filled(INPUT_RIGHT_SIDE, p->rows);
  p->b = room(p->rows);
}
static void make_product(struct problem* p) {
  p->input = filled(INPUT_A, elements(p));
  p->second = filled(INPUT_B, elements(p));
  p->c = room(elements(p));
}

typedef void getrf(const int64_t* m, const int64_t* n, double* a, const int64_t* lda,
                   int64_t* pivots, int64_t* info);
static int64_t call_getrf(struct problem* p) {
  int64_t info = 0;
  ((getrf*)p->routine)(&p->rows, &p->columns, p->a, &p->rows, p->pivots, &info);
  return info;
}

typedef void potrf(const char* triangle, const int64_t* n, double* a, const int64_t* lda,
                   int64_t* info, size_t);
static int64_t factor_cholesky(struct problem* p, const char* triangle) {
  int64_t info = 0;
  ((potrf*)p->routine)(triangle, &p->columns, p->a, &p->rows, &info, 1);
  return info;
}
static int64_t call_potrf_lower(struct problem* p) {
  return factor_cholesky(p, "L");
}
static int64_t call_potrf_upper(struct problem* p) {
  return factor_cholesky(p, "U");
}

// Part of the first call.
void make_workspace(struct problem* p, double length) {
  p->lwork = (int64_t)length;
  p->work = room(p->lwork);
}

typedef void geqrf(const int64_t* m, const int64_t* n, double* a, const int64_t* lda, double* tau,
                   double* work, const int64_t* lwork, int64_t* info);
static int64_t call_geqrf(struct problem* p) {
  geqrf* const routine = (geqrf*)p->routine;
  int64_t info = 0;
  if (p->work == NULL) {
    const int64_t query = -1;
    double length = 1;
    routine(&p->rows, &p->columns, p->a, &p->rows, p->tau, &length, &query, &info);
    make_workspace(p, length);
  }
  routine(&p->rows, &p->columns, p->a, &p->rows, p->tau, p->work, &p->lwork, &info);
  return info;
}

typedef void gels(const char* op, const int64_t* m, const int64_t* n, const int64_t* right_sides,
                  double* a, const int64_t* lda, double* b, const int64_t* ldb, double* work,
                  const int64_t* lwork, int64_t* info, size_t);
static int64_t call_gels(struct problem* p) {
  gels* const routine = (gels*)p->routine;
  const int64_t *const m = &p->rows, *const n = &p->columns;
  int64_t info = 0;
  if (p->work == NULL) {
    const int64_t query = -1;
    double length = 1;
    routine("N", m, n, &single, p->a, m, p->b, m, &length, &query, &info, 1);
    make_workspace(p, length);
  }
  routine("N", m, n, &single, p->a, m, p->b, m, p->work, &p->lwork, &info, 1);
  return info;
}

typedef void gesv(const int64_t* n, const int64_t* right_sides, double* a, const int64_t* lda,
                  int64_t* pivots, double* b, const int64_t* ldb, int64_t* info);
static int64_t call_gesv(struct problem* p) {
  int64_t info = 0;
  ((gesv*)p->routine)(&p->columns, &single, p->a, &p->rows, p->pivots, p->b, &p->rows, &info);
  return info;
}

typedef void gemm(const char* op_a, const char* op_b, const int64_t* m, const int64_t* n,
                  const int64_t* k, const double* alpha, const double* a, const int64_t* lda,
                  const double* b, const int64_t* ldb, const double* beta, double* c,
                  const int64_t* ldc, size_t, size_t);
static int64_t call_gemm(struct problem* p) {
  const int64_t* const n = &p->columns;
  ((gemm*)p->routine)("N", "N", n, n, n, &one, p->input, n, p->second, n, &zero, p->c, n, 1, 1);
  return 0;
}

typedef void syrk(const char* triangle, const char* op, const int64_t* n, const int64_t* k,
                  const double* alpha, const double* a, const int64_t* lda, const double* beta,
                  double* c, const int64_t* ldc, size_t, size_t);
static int64_t call_syrk(struct problem* p) {
  const int64_t* const n = &p->columns;
  ((syrk*)p->routine)("L", "N", n, n, &one, p->input, n, &zero, p->c, n, 1, 1);
  return 0;
}

static double residual_of_lu(const struct problem* p) {
  int64_t* const pivots = (int64_t*)room(p->columns);
  for (int64_t i = 0; i < p->columns; ++i) {
    pivots[i] = p->wide ? p->pivots[i] : ((const int32_t*)p->pivots)[i];
  }
  const double residual = lu_residual(p->input, p->a, pivots, p->rows, p->columns);
  free(pivots);
  return residual;
}
static double residual_of_lower(const struct problem* p) {
  return cholesky_residual(p->input, p->a, p->columns, false);
}
static double residual_of_upper(const struct problem* p) {
  return cholesky_residual(p->input, p->a, p->columns, true);
}
static double residual_of_qr(const struct problem* p) {
  return qr_residual(p->input, p->a, p->tau, p->rows, p->columns);
}
static double residual_of_product(const struct problem* p) {
  return product_residual(p->input, p->second, p->c, p->columns);
}
static double residual_of_rank_update(const struct problem* p) {
  return rank_update_residual(p->input, p->c, p->columns);
}
static double residual_of_solution(const struct problem* p) {
  return solution_residual(p->input, p->b, p->second, p->columns);
}
static double residual_of_least_squares(const struct problem* p) {
  return least_squares_residual(p->input, p->b, p->second, p->rows, p->columns);
}

double cube(int64_t n) {
  return (double)n * (double)n * (double)n;
}
static double lu_operations(int64_t m, int64_t n) {
  return (double)n * (double)n * ((double)m - (double)n / 3);
}
static double qr_operations(int64_t m, int64_t n) {
  return 2 * lu_operations(m, n);
}
static double cholesky_operations(int64_t m, int64_t n) {
  (void)m;
  return cube(n) / 3;
}
static double product_operations(int64_t m, int64_t n) {
  (void)m;
  return 2 * cube(n);
}
static double rank_update_operations(int64_t m, int64_t n) {
  (void)m;
  return cube(n);
}

#define LU lu_operations, make_matrix, reset_matrix, call_getrf, residual_of_lu
#define CHOLESKY(triangle)                                                          \
  cholesky_operations, make_positive_definite, reset_matrix, call_potrf_##triangle, \
      residual_of_##triangle
#define QR qr_operations, make_matrix, reset_matrix, call_geqrf, residual_of_qr
#define PRODUCT product_operations, make_product, reset_nothing, call_gemm, residual_of_product
#define SYMMETRIC_EIGEN \
  symmetric_operations, make_symmetric, reset_matrix, call_syevd, residual_of_symmetric
#define GENERAL_EIGEN general_operations, make_general, reset_matrix, call_geev, residual_of_general
#define SINGULAR_VECTORS \
  singular_operations, make_general, reset_matrix, call_gesdd, residual_of_singular
#define LEAST_SQUARES gelsd_operations, make_gelsd, reset_system, call_gelsd, residual_of_gelsd
#define SMALL                                \
  0, true, {4, 8, 16, 32}, {4, 8, 16, 32}, { \
    4                                        \
  }

const struct workload workloads[] = {
    {"dgetrf",
     "LU, n by n",
     "dgetrf",
     0,
     false,
     {500, 1000, 2000, 4000, 8000},
     {500, 1000, 2000},
     {100},
     LU},
    {"dpotrf_lower",
     "Cholesky, lower triangle, n by n",
     "dpotrf",
     0,
     false,
     {1000, 2000, 4000},
     {1000, 2000},
     {100},
     CHOLESKY(lower)},
    {"dpotrf_upper",
     "Cholesky, upper triangle, n by n",
     "dpotrf",
     0,
     false,
     {1000, 2000, 4000},
     {1000, 2000},
     {100},
     CHOLESKY(upper)},
    {"dgeqrf", "QR, n by n", "dgeqrf", 0, false, {1000, 2000, 4000}, {1000, 2000}, {100}, QR},
    {"dgemm",
     "C = A B, n by n",
     "dgemm",
     0,
     false,
     {128, 256, 600, 2000, 4000},
     {128, 256, 600, 2000},
     {100},
     PRODUCT},
    {"dsyrk",
     "lower triangle of C = A A^T, n by n",
     "dsyrk",
     0,
     false,
     {2000},
     {2000},
     {100},
     rank_update_operations,
     make_product,
     reset_nothing,
     call_syrk,
     residual_of_rank_update},
    {"dgeqrf_tall", "QR, 100000 by n", "dgeqrf", 100000, false, {50}, {50}, {5}, QR},
    {"dgels_tall",
     "least squares, 100000 by n",
     "dgels",
     100000,
     false,
     {50},
     {50},
     {5},
     qr_operations,
     make_system,
     reset_system,
     call_gels,
     residual_of_least_squares},
    {"dgetrf_tall", "LU, 50000 by n", "dgetrf", 50000, false, {100}, {100}, {5}, LU},
    {"dsyevd",
     "eigenvalues and eigenvectors of a symmetric matrix, n by n",
     "dsyevd",
     0,
     false,
     {500, 1000, 2000},
     {500, 1000},
     {100},
     SYMMETRIC_EIGEN},
    {"dgesdd",
     "singular values and vectors, n by n",
     "dgesdd",
     0,
     false,
     {500, 1000, 2000},
     {500, 1000},
     {100},
     SINGULAR_VECTORS},
    {"dgeev",
     "eigenvalues and right eigenvectors, n by n",
     "dgeev",
     0,
     false,
     {500, 1000, 2000},
     {500},
     {100},
     GENERAL_EIGEN},
    {"dgelsd",
     "least squares by singular values, n by n",
     "dgelsd",
     0,
     false,
     {500, 1000, 2000},
     {500, 1000},
     {100},
     LEAST_SQUARES},
    {"dgemm_small", "C = A B, n by n, without pauses", "dgemm", SMALL, PRODUCT},
    {"dgetrf_small", "LU, n by n, without pauses", "dgetrf", SMALL, LU},
    {"dgesv_small", "A x = b, n by n, without pauses", "dgesv", SMALL, lu_operations, make_system,
     reset_system, call_gesv, residual_of_solution},
    {"dpotrf_small", "Cholesky, lower triangle, n by n, without pauses", "dpotrf", SMALL,
     CHOLESKY(lower)},
};
const int workload_count = sizeof workloads / sizeof *workloads;

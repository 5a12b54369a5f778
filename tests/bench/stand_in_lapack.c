// SPDX-License-Identifier: Apache-2.0
// A library for the tests of bench_lapack with three routines: dgemm, whose products are wrong with
// WRONG_BY, dgetrf, and dpotrf, which reports as info what is wrong with the caller's environment.
// WIDE: with 64-bit integers, named as in NumPy's wheels.
#define _GNU_SOURCE
#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef WIDE
#define INTEGER int64_t
#define ROUTINE(name) scipy_##name##_64_
#else
#define INTEGER int32_t
#define ROUTINE(name) name##_
#endif
#ifndef WRONG_BY
#define WRONG_BY 0
#endif

void ROUTINE(dgemm)(const char* op_a, const char* op_b, const INTEGER* m, const INTEGER* n,
                    const INTEGER* k, const double* alpha, const double* a, const INTEGER* lda,
                    const double* b, const INTEGER* ldb, const double* beta, double* c,
                    const INTEGER* ldc) {
  (void)op_a, (void)op_b, (void)beta;
  for (INTEGER j = 0; j < *n; ++j) {
    for (INTEGER i = 0; i < *m; ++i) c[i + j * *ldc] = 0;
    for (INTEGER l = 0; l < *k; ++l) {
      for (INTEGER i = 0; i < *m; ++i) {
        c[i + j * *ldc] += *alpha * a[i + l * *lda] * b[l + j * *ldb];
      }
    }
  }
  c[*m / 2] += WRONG_BY;
}

void ROUTINE(dgetrf)(const INTEGER* m, const INTEGER* n, double* a, const INTEGER* lda,
                     INTEGER* pivots, INTEGER* info) {
  for (INTEGER k = 0; k < *n; ++k) {
    INTEGER pivot = k;
    for (INTEGER i = k; i < *m; ++i) {
      if (fabs(a[i + k * *lda]) > fabs(a[pivot + k * *lda])) pivot = i;
    }
    pivots[k] = pivot + 1;
    for (INTEGER j = 0; j < *n; ++j) {
      const double exchanged = a[k + j * *lda];
      a[k + j * *lda] = a[pivot + j * *lda];
      a[pivot + j * *lda] = exchanged;
    }
    for (INTEGER i = k + 1; i < *m; ++i) {
      a[i + k * *lda] /= a[k + k * *lda];
      for (INTEGER j = k + 1; j < *n; ++j) a[i + j * *lda] -= a[i + k * *lda] * a[k + j * *lda];
    }
  }
  *info = 0;
}

static int is_two(const char* variable) {
  const char* value = getenv(variable);
  return value != NULL && strcmp(value, "2") == 0;
}

void ROUTINE(dpotrf)(const char* triangle, const INTEGER* n, double* a, const INTEGER* lda,
                     INTEGER* info) {
  cpu_set_t usable;
  (void)triangle, (void)n, (void)a, (void)lda;
  *info = 100;  // none of the reasons below: the environment is right
  if (!is_two("CREEK_WORKERS")) *info = 1;
  if (!is_two("OPENBLAS_NUM_THREADS")) *info = 2;
  if (!is_two("MKL_NUM_THREADS")) *info = 3;
  if (!is_two("OMP_NUM_THREADS")) *info = 4;
  if (!is_two("BLIS_NUM_THREADS")) *info = 5;
  if (getenv("CREEK_IDLE") != NULL || getenv("OPENBLAS_CORETYPE") != NULL) *info = 6;
  if (sched_getaffinity(0, sizeof usable, &usable) != 0 || CPU_COUNT(&usable) > 2) *info = 7;
}

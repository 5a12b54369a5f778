// SPDX-License-Identifier: Apache-2.0
// Integers are passed as in routines.c; a workspace of integers has 64 bits for each, also where
// the library needs 32. Matrices are square.
#include "decompositions.h"

#include "checks.h"

static const int64_t one_row = 1, query = -1;

/// Gives the call a workspace of integers, too.
static void make_workspaces(struct problem* p, double length, int64_t integers) {
  make_workspace(p, length);
  p->integer_work = (int64_t*)room(integers);
}

static void make_decomposition(struct problem* p, const double* input) {
  const int64_t n = p->columns;
  p->input = input;
  p->a = room(n * n);
  p->values = room(2 * n);
  p->left = room(n * n);
  p->right = room(n * n);
}
void make_general(struct problem* p) {
  make_decomposition(p, filled(INPUT_A, p->columns * p->columns));
}
void make_symmetric(struct problem* p) {
  const int64_t n = p->columns;
  double* a = filled(INPUT_A, n * n);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < j; ++i) a[i + j * n] = a[j + i * n];
  }
  make_decomposition(p, a);
}
void make_gelsd(struct problem* p) {
  make_general(p);
  p->second = filled(INPUT_RIGHT_SIDE, p->columns);
  p->b = room(p->columns);
}

typedef void syevd(const char* job, const char* triangle, const int64_t* n, double* a,
                   const int64_t* lda, double* values, double* work, const int64_t* lwork,
                   int64_t* integer_work, const int64_t* integer_length, int64_t* info, size_t,
                   size_t);
int64_t call_syevd(struct problem* p) {
  syevd* const routine = (syevd*)p->routine;
  const int64_t* const n = &p->columns;
  const int64_t integers = 3 + 5 * *n;
  int64_t info = 0;
  if (p->work == NULL) {
    double length = 1;
    int64_t told = 0;
    routine("V", "L", n, p->a, n, p->values, &length, &query, &told, &query, &info, 1, 1);
    make_workspaces(p, length, integers);
  }
  routine("V", "L", n, p->a, n, p->values, p->work, &p->lwork, p->integer_work, &integers, &info, 1,
          1);
  return info;
}

typedef void gesdd(const char* job, const int64_t* m, const int64_t* n, double* a,
                   const int64_t* lda, double* values, double* u, const int64_t* ldu, double* vt,
                   const int64_t* ldvt, double* work, const int64_t* lwork, int64_t* integer_work,
                   int64_t* info, size_t);
int64_t call_gesdd(struct problem* p) {
  gesdd* const routine = (gesdd*)p->routine;
  const int64_t* const n = &p->columns;
  int64_t info = 0;
  if (p->work == NULL) {
    double length = 1;
    int64_t unused = 0;
    routine("S", n, n, p->a, n, p->values, p->left, n, p->right, n, &length, &query, &unused, &info,
            1);
    make_workspaces(p, length, 8 * *n);
  }
  routine("S", n, n, p->a, n, p->values, p->left, n, p->right, n, p->work, &p->lwork,
          p->integer_work, &info, 1);
  return info;
}

typedef void geev(const char* left_job, const char* right_job, const int64_t* n, double* a,
                  const int64_t* lda, double* real_parts, double* imaginary_parts, double* left,
                  const int64_t* ldl, double* right, const int64_t* ldr, double* work,
                  const int64_t* lwork, int64_t* info, size_t, size_t);
int64_t call_geev(struct problem* p) {
  geev* const routine = (geev*)p->routine;
  const int64_t* const n = &p->columns;
  double* const imaginary_parts = p->values + *n;
  int64_t info = 0;
  if (p->work == NULL) {
    double length = 1;
    routine("N", "V", n, p->a, n, p->values, imaginary_parts, p->left, &one_row, p->right, n,
            &length, &query, &info, 1, 1);
    make_workspace(p, length);
  }
  routine("N", "V", n, p->a, n, p->values, imaginary_parts, p->left, &one_row, p->right, n, p->work,
          &p->lwork, &info, 1, 1);
  return info;
}

typedef void gelsd(const int64_t* m, const int64_t* n, const int64_t* right_sides, double* a,
                   const int64_t* lda, double* b, const int64_t* ldb, double* values,
                   const double* threshold, int64_t* rank, double* work, const int64_t* lwork,
                   int64_t* integer_work, int64_t* info);
int64_t call_gelsd(struct problem* p) {
  gelsd* const routine = (gelsd*)p->routine;
  const int64_t* const n = &p->columns;
  const double machine_precision = -1;
  int64_t info = 0, rank = 0;
  if (p->work == NULL) {
    double length = 1;
    int64_t integers = 0;
    routine(n, n, &one_row, p->a, n, p->b, n, p->values, &machine_precision, &rank, &length, &query,
            &integers, &info);
    make_workspaces(p, length, p->wide ? integers : (int32_t)integers);
  }
  routine(n, n, &one_row, p->a, n, p->b, n, p->values, &machine_precision, &rank, p->work, &p->lwork,
          p->integer_work, &info);
  return info;
}

double residual_of_symmetric(const struct problem* p) {
  return symmetric_eigen_residual(p->input, p->values, p->a, p->columns);
}
double residual_of_general(const struct problem* p) {
  return eigen_residual(p->input, p->values, p->values + p->columns, p->right, p->columns);
}
double residual_of_singular(const struct problem* p) {
  return singular_residual(p->input, p->values, p->left, p->right, p->columns);
}
double residual_of_gelsd(const struct problem* p) {
  return least_squares_residual(p->input, p->b, p->second, p->columns, p->columns);
}

// The operations of the usual algorithms [Golub 2013, 8.3, 8.6, 7.5], whatever a library does.
double symmetric_operations(int64_t m, int64_t n) {
  (void)m;
  return 9 * cube(n);
}
double singular_operations(int64_t m, int64_t n) {
  (void)m;
  return 22 * cube(n);
}
double general_operations(int64_t m, int64_t n) {
  (void)m;
  return 25 * cube(n);
}
/// Counts the reduction to bidiagonal form, next to which the rest is small.
double gelsd_operations(int64_t m, int64_t n) {
  (void)m;
  return 8 * cube(n) / 3;
}

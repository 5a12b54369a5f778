// SPDX-License-Identifier: Apache-2.0
// The calls that are measured: a row of the table for each workload and size.
#pragma once
#include <stdbool.h>
#include <stdint.h>

/// Operands of one call, and the routine that takes them.
struct problem {
  void (*routine)(void);
  bool wide;  ///< the library's integers have 64 bits
  int64_t rows, columns;
  const double* input;   ///< the matrix A, kept for the check
  const double* second;  ///< the matrix B or the right side b, kept too
  double* a;             ///< copies of both, which routines overwrite
  double* b;
  double* c;
  double* tau;
  double *values, *left, *right;  ///< of decompositions: eigenvalues or singular values, vectors
  int64_t* pivots;
  double* work;  ///< NULL until the first call has asked for its length
  int64_t lwork;
  int64_t* integer_work;
};

/// Gives the call a workspace as long as a query said.
void make_workspace(struct problem* p, double length);

enum { MAX_SIZES = 6 };

struct workload {
  const char* name;
  const char* about;
  const char* routine;
  int64_t rows;  ///< 0: the matrix is square
  bool small;    ///< a figure is the mean of many calls in microseconds, not a rate
  int64_t full[MAX_SIZES], quick[MAX_SIZES], smoke[MAX_SIZES];  ///< ended by 0
  double (*operations)(int64_t m, int64_t n);
  void (*make)(struct problem* p);
  /// Restores what a call overwrites.
  void (*reset)(struct problem* p);
  /// Returns LAPACK's info.
  int64_t (*call)(struct problem* p);
  double (*residual)(const struct problem* p);
};

void reset_matrix(struct problem* p);
void reset_system(struct problem* p);
double cube(int64_t n);

extern const struct workload workloads[];
extern const int workload_count;

// SPDX-License-Identifier: Apache-2.0
#include "checks.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double* room(int64_t count) {
  double* values = count > 0 ? calloc((size_t)count, sizeof *values) : NULL;
  if (values == NULL) {
    fprintf(stderr, "lapack: not enough memory for %lld doubles\n", (long long)count);
    exit(1);
  }
  return values;
}

/// The inputs of bench/harness/dense.hpp.
static double element(enum input which, uint64_t index) {
  uint64_t z = (((uint64_t)which << 56) + index) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53 - 0.5;
}

double* filled(enum input which, int64_t count) {
  double* values = room(count);
  for (int64_t i = 0; i < count; ++i) values[i] = element(which, (uint64_t)i);
  return values;
}

double* positive_definite(int64_t n) {
  double* a = room(n * n);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t low = i < j ? i : j, high = i < j ? j : i;
      a[i + j * n] = element(INPUT_A, (uint64_t)(low * n + high));
    }
    a[j + j * n] += (double)n;
  }
  return a;
}

/// Rows of column j that belong to a shape: [first, last).
enum shape { WHOLE, UPPER, LOWER, STRICTLY_LOWER };
struct range {
  int64_t first, last;
};
static struct range rows_of(enum shape shape, int64_t m, int64_t j) {
  switch (shape) {
    case UPPER:
      return (struct range){0, j + 1};
    case LOWER:
      return (struct range){j, m};
    case STRICTLY_LOWER:
      return (struct range){j + 1, m};
    default:
      return (struct range){0, m};
  }
}

/// Computes y += A x for the part of A that `shape` names, or y += A^T x.
static void add_product(double* y, const double* a, enum shape shape, int64_t m, int64_t n,
                        const double* x) {
  for (int64_t j = 0; j < n; ++j) {
    const struct range rows = rows_of(shape, m, j);
    for (int64_t i = rows.first; i < rows.last; ++i) y[i] += a[i + j * m] * x[j];
  }
}
static void add_transposed_product(double* y, const double* a, enum shape shape, int64_t m,
                                   int64_t n, const double* x) {
  for (int64_t j = 0; j < n; ++j) {
    const struct range rows = rows_of(shape, m, j);
    double sum = 0;
    for (int64_t i = rows.first; i < rows.last; ++i) sum += a[i + j * m] * x[i];
    y[j] += sum;
  }
}

/// Returns the largest magnitude, or NaN if an element is NaN.
static double norm(const double* x, int64_t count) {
  double max = 0;
  for (int64_t i = 0; i < count && !isnan(max); ++i) {
    if (!(fabs(x[i]) <= max)) max = fabs(x[i]);
  }
  return max;
}

/// Returns the largest sum of the magnitudes of a row.
static double row_norm(const double* a, int64_t m, int64_t n) {
  double* sums = room(m);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < m; ++i) sums[i] += fabs(a[i + j * m]);
  }
  const double max = norm(sums, m);
  free(sums);
  return max;
}

/// Returns the largest sum of the magnitudes of a column.
static double column_norm(const double* a, int64_t m, int64_t n) {
  double max = 0;
  for (int64_t j = 0; j < n; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < m; ++i) sum += fabs(a[i + j * m]);
    max = fmax(max, sum);
  }
  return max;
}

static double scaled(double error, int64_t m, int64_t n, double scale) {
  return error / (DBL_EPSILON * (double)(m > n ? m : n) * scale);
}

/// Returns the scaled difference of A x and y, which is freed together with x.
static double difference(const double* a, int64_t m, int64_t n, double* x, double* y) {
  double* r = room(m);
  add_product(r, a, WHOLE, m, n, x);
  for (int64_t i = 0; i < m; ++i) r[i] -= y[i];
  const double residual = scaled(norm(r, m), m, n, row_norm(a, m, n) * norm(x, n));
  free(r);
  free(x);
  free(y);
  return residual;
}

double lu_residual(const double* a, const double* factors, const int64_t* pivots, int64_t m,
                   int64_t n) {
  double *x = filled(INPUT_VECTOR, n), *ux = room(m), *y = room(m);
  add_product(ux, factors, UPPER, m, n, x);
  memcpy(y, ux, sizeof *y * (size_t)n);
  add_product(y, factors, STRICTLY_LOWER, m, n, ux);
  free(ux);
  for (int64_t k = n; k-- > 0;) {
    const int64_t other = pivots[k] - 1;
    if (other < k || other >= m) y[k] = NAN;
    if (isnan(y[k])) break;
    const double exchanged = y[k];
    y[k] = y[other];
    y[other] = exchanged;
  }
  return difference(a, m, n, x, y);
}

double cholesky_residual(const double* a, const double* factor, int64_t n, bool upper) {
  double *x = filled(INPUT_VECTOR, n), *half = room(n), *y = room(n);
  if (upper) {
    add_product(half, factor, UPPER, n, n, x);
    add_transposed_product(y, factor, UPPER, n, n, half);
  } else {
    add_transposed_product(half, factor, LOWER, n, n, x);
    add_product(y, factor, LOWER, n, n, half);
  }
  free(half);
  return difference(a, n, n, x, y);
}

double qr_residual(const double* a, const double* factors, const double* tau, int64_t m,
                   int64_t n) {
  double *x = filled(INPUT_VECTOR, n), *y = room(m);
  add_product(y, factors, UPPER, m, n, x);
  // Q is the product of the reflectors I - tau v v^T, v below a diagonal of ones.
  for (int64_t k = n; k-- > 0;) {
    const double* v = factors + k * m;
    double dot = y[k];
    for (int64_t i = k + 1; i < m; ++i) dot += v[i] * y[i];
    dot *= tau[k];
    y[k] -= dot;
    for (int64_t i = k + 1; i < m; ++i) y[i] -= dot * v[i];
  }
  return difference(a, m, n, x, y);
}

static void negate(double* x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) x[i] = -x[i];
}

/// Returns the scaled size of r, what is left of a matrix of that `scale` times x; frees all three.
static double size_of_rest(double* r, double* x, double* between, int64_t n, double scale) {
  const double residual = scaled(norm(r, n), n, n, scale * norm(x, n));
  free(x);
  free(between);
  free(r);
  return residual;
}

double product_residual(const double* a, const double* b, const double* c, int64_t n) {
  double *x = filled(INPUT_VECTOR, n), *bx = room(n), *r = room(n);
  add_product(bx, b, WHOLE, n, n, x);
  add_product(r, a, WHOLE, n, n, bx);
  negate(r, n);
  add_product(r, c, WHOLE, n, n, x);
  return size_of_rest(r, x, bx, n, row_norm(a, n, n) * row_norm(b, n, n));
}

double rank_update_residual(const double* a, const double* c, int64_t n) {
  double *x = filled(INPUT_VECTOR, n), *ax = room(n), *r = room(n);
  add_transposed_product(ax, a, WHOLE, n, n, x);
  add_product(r, a, WHOLE, n, n, ax);
  negate(r, n);
  add_product(r, c, LOWER, n, n, x);
  add_transposed_product(r, c, STRICTLY_LOWER, n, n, x);
  return size_of_rest(r, x, ax, n, row_norm(a, n, n) * column_norm(a, n, n));
}

/// Returns A x - b.
static double* remainder_of(const double* a, const double* x, const double* b, int64_t m,
                            int64_t n) {
  double* r = room(m);
  for (int64_t i = 0; i < m; ++i) r[i] = -b[i];
  add_product(r, a, WHOLE, m, n, x);
  return r;
}

double solution_residual(const double* a, const double* x, const double* b, int64_t n) {
  double* r = remainder_of(a, x, b, n, n);
  const double scale = row_norm(a, n, n) * norm(x, n) + norm(b, n);
  const double residual = scaled(norm(r, n), n, n, scale);
  free(r);
  return residual;
}

double least_squares_residual(const double* a, const double* x, const double* b, int64_t m,
                              int64_t n) {
  double *r = remainder_of(a, x, b, m, n), *projected = room(n);
  add_transposed_product(projected, a, WHOLE, m, n, r);
  const double scale = column_norm(a, m, n) * (row_norm(a, m, n) * norm(x, n) + norm(b, m));
  const double residual = scaled(norm(projected, n), m, n, scale);
  free(r);
  free(projected);
  return residual;
}

/// Returns how far the columns of Q are from orthonormal.
static double orthogonality(const double* q, int64_t n) {
  double *x = filled(INPUT_VECTOR, n), *qx = room(n), *r = room(n);
  add_product(qx, q, WHOLE, n, n, x);
  for (int64_t i = 0; i < n; ++i) r[i] = -x[i];
  add_transposed_product(r, q, WHOLE, n, n, qx);
  return size_of_rest(r, x, qx, n, 1);
}

/// Returns NaN if `values` are not in the order that the sign tells, otherwise 0.
static double disorder(const double* values, int64_t n, double sign) {
  for (int64_t i = 1; i < n; ++i) {
    if (!(sign * values[i - 1] <= sign * values[i])) return NAN;
  }
  return 0;
}

static double worst(double a, double b) {
  return isnan(a) || a > b ? a : b;
}

double symmetric_eigen_residual(const double* a, const double* values, const double* vectors,
                                int64_t n) {
  double *x = filled(INPUT_VECTOR, n), *parts = room(n), *y = room(n);
  add_transposed_product(parts, vectors, WHOLE, n, n, x);
  for (int64_t j = 0; j < n; ++j) parts[j] *= values[j];
  add_product(y, vectors, WHOLE, n, n, parts);
  free(parts);
  const double residual = worst(difference(a, n, n, x, y), orthogonality(vectors, n));
  return worst(residual, disorder(values, n, 1));
}

double singular_residual(const double* a, const double* values, const double* u, const double* vt,
                         int64_t n) {
  double *x = filled(INPUT_VECTOR, n), *parts = room(n), *y = room(n);
  add_product(parts, vt, WHOLE, n, n, x);
  for (int64_t j = 0; j < n; ++j) parts[j] *= values[j];
  add_product(y, u, WHOLE, n, n, parts);
  free(parts);
  double residual = worst(difference(a, n, n, x, y), disorder(values, n, -1));
  residual = worst(residual, orthogonality(u, n));
  return worst(residual, orthogonality(vt, n));
}

/// Returns how far the columns are from the norm 1, which a conjugate pair has together.
static double norm_error(const double* imaginary_parts, const double* vectors, int64_t n) {
  double error = 0;
  for (int64_t j = 0; j < n; ++j) {
    const int64_t columns = imaginary_parts[j] == 0 || j + 1 == n ? 1 : 2;
    double square = 0;
    for (int64_t i = 0; i < columns * n; ++i) square += vectors[i + j * n] * vectors[i + j * n];
    error = worst(fabs(square - 1), error);
    j += columns - 1;
  }
  return scaled(error, n, n, 1);
}

double eigen_residual(const double* a, const double* real_parts, const double* imaginary_parts,
                      const double* vectors, int64_t n) {
  double *x = filled(INPUT_VECTOR, n), *vx = room(n), *dx = room(n), *r = room(n);
  add_product(vx, vectors, WHOLE, n, n, x);
  add_product(r, a, WHOLE, n, n, vx);
  negate(r, n);
  // In a pair, with the vector v + i w and the value p + i q: A v = p v - q w, A w = q v + p w.
  for (int64_t j = 0; j < n; ++j) {
    dx[j] += real_parts[j] * x[j];
    if (imaginary_parts[j] > 0 && j + 1 < n) dx[j] += imaginary_parts[j] * x[j + 1];
    if (imaginary_parts[j] < 0 && j > 0) dx[j] += imaginary_parts[j] * x[j - 1];
  }
  add_product(r, vectors, WHOLE, n, n, dx);
  free(dx);
  const double scale = row_norm(a, n, n) * row_norm(vectors, n, n);
  return worst(size_of_rest(r, x, vx, n, scale), norm_error(imaginary_parts, vectors, n));
}

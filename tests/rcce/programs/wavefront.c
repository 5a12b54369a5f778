/* SPDX-License-Identifier: Apache-2.0 */
/* A wavefront as in LU of the NAS benchmarks: UEs in a grid; every cell of a plane needs its
   neighbours above and to the left, so a UE waits for a row from the north and a column from the
   west before each plane, and then serves the south and the east. */
#include <math.h>

#include "RCCE.h"

#define N 12 /* cells of a UE, each way */
#define PLANES 6

static double block[N + 1][N + 1], line[N];

static int columns_for(int ues) {
  int columns = 1, i;
  for (i = 1; i * i <= ues; i++) {
    if (ues % i == 0) columns = i;
  }
  return columns;
}

static void sweep(int plane) {
  int i, j;
  for (i = 1; i <= N; i++) {
    for (j = 1; j <= N; j++) {
      block[i][j] = 0.5 * (block[i - 1][j] + block[i][j - 1]) + plane + 1;
    }
  }
  creek_charge(10 * N * N);
}

int RCCE_APP(int argc, char** argv) {
  int me, ues, columns, rows, x, y, plane, i, j, failures = 0;
  double sum = 0, total = 0, expected = 0;
  RCCE_init(&argc, &argv);
  me = RCCE_ue();
  ues = RCCE_num_ues();
  columns = columns_for(ues);
  rows = ues / columns;
  x = me % columns;
  y = me / columns;
  for (plane = 0; plane < PLANES; plane++) {
    for (i = 0; i <= N; i++) block[i][0] = block[0][i] = 1;
    if (y > 0) RCCE_recv((char*)&block[0][1], N * sizeof(double), me - columns);
    if (x > 0) {
      RCCE_recv((char*)line, sizeof line, me - 1);
      for (i = 0; i < N; i++) block[i + 1][0] = line[i];
    }
    sweep(plane);
    if (y + 1 < rows) RCCE_send((char*)&block[N][1], N * sizeof(double), me + columns);
    if (x + 1 < columns) {
      for (i = 0; i < N; i++) line[i] = block[i + 1][N];
      RCCE_send((char*)line, sizeof line, me + 1);
    }
  }
  for (i = 1; i <= N; i++) {
    for (j = 1; j <= N; j++) sum += block[i][j];
  }
  RCCE_allreduce((char*)&sum, (char*)&total, 1, RCCE_DOUBLE, RCCE_SUM, RCCE_COMM_WORLD);
  if (me == 0) { /* the whole grid at once, last plane */
    int height = rows * N, width = columns * N;
    double* grid = malloc(sizeof(double) * (height + 1) * (width + 1));
    for (i = 0; i <= height; i++) {
      for (j = 0; j <= width; j++) {
        double* cell = &grid[i * (width + 1) + j];
        *cell = i == 0 || j == 0 ? 1 : 0.5 * (cell[-width - 1] + cell[-1]) + PLANES;
        if (i && j) expected += *cell;
      }
    }
    free(grid);
    if (fabs(total - expected) > 1e-9 * fabs(expected)) failures++;
    printf("%d x %d UEs: sum %.6f, expected %.6f\n", rows, columns, total, expected);
  }
  RCCE_finalize();
  return failures;
}

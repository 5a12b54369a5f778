/* SPDX-License-Identifier: Apache-2.0 */
/* Heat in a rod: each UE has a piece, exchanges one cell with its neighbours, and relaxes. The
   result is that of one loop over the whole rod. */
#include "RCCE.h"

#define CELLS 96
#define STEPS 60

static double old[CELLS + 2], next[CELLS + 2], whole[CELLS + 2], other[CELLS + 2];

static void exchange(double* piece, int cells, int me, int ues) {
  int pass;
  /* Even UEs send first to the right, then to the left, so no UEs wait in a circle. */
  for (pass = 0; pass < 2; pass++) {
    int right_first = (me + pass) % 2 == 0;
    if (right_first && me + 1 < ues) {
      RCCE_send((char*)&piece[cells], sizeof(double), me + 1);
      RCCE_recv((char*)&piece[cells + 1], sizeof(double), me + 1);
    }
    if (!right_first && me > 0) {
      RCCE_recv((char*)&piece[0], sizeof(double), me - 1);
      RCCE_send((char*)&piece[1], sizeof(double), me - 1);
    }
  }
}

int RCCE_APP(int argc, char** argv) {
  int me, ues, first, last, cells, i, step, failures = 0;
  double* swap;
  double *a = old, *b = next, *x = whole, *y = other;
  RCCE_init(&argc, &argv);
  me = RCCE_ue();
  ues = RCCE_num_ues();
  first = CELLS * me / ues;
  last = CELLS * (me + 1) / ues;
  cells = last - first;
  for (i = 0; i < CELLS + 2; i++) x[i] = y[i] = i == 0 ? 100.0 : i == CELLS + 1 ? -50.0 : 0.0;
  for (i = 0; i < cells + 2; i++) a[i] = b[i] = x[first + i];
  for (step = 0; step < STEPS; step++) {
    exchange(a, cells, me, ues);
    for (i = 1; i <= cells; i++) b[i] = a[i] + 0.25 * (a[i - 1] - 2 * a[i] + a[i + 1]);
    b[0] = a[0];
    b[cells + 1] = a[cells + 1];
    swap = a, a = b, b = swap;
    creek_charge(12 * cells);
    for (i = 1; i <= CELLS; i++) y[i] = x[i] + 0.25 * (x[i - 1] - 2 * x[i] + x[i + 1]);
    swap = x, x = y, y = swap;
  }
  for (i = 1; i <= cells; i++) failures += a[i] != x[first + i];
  RCCE_finalize();
  if (failures) printf("UE %d: %d cells differ\n", me, failures);
  return failures != 0;
}

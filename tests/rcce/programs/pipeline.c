/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline: UE 0 makes items, each UE works on an item and sends it on, the last checks them. */
#include "RCCE.h"

#define ITEMS 25
#define SIZE 100

static int item[SIZE];

int RCCE_APP(int argc, char** argv) {
  int me, ues, n, i, failures = 0;
  RCCE_init(&argc, &argv);
  me = RCCE_ue();
  ues = RCCE_num_ues();
  for (n = 0; n < ITEMS; n++) {
    if (me == 0) {
      for (i = 0; i < SIZE; i++) item[i] = n * SIZE + i;
    } else {
      RCCE_recv((char*)item, sizeof item, me - 1);
    }
    for (i = 0; i < SIZE; i++) item[i] += me + 1;
    creek_charge(4 * SIZE);
    if (me + 1 < ues) {
      RCCE_send((char*)item, sizeof item, me + 1);
    } else {
      for (i = 0; i < SIZE; i++) failures += item[i] != n * SIZE + i + ues * (ues + 1) / 2;
    }
  }
  RCCE_finalize();
  return failures != 0;
}

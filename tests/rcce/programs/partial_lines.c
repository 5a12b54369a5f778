/* SPDX-License-Identifier: Apache-2.0 */
/* UE 0 gets an error, which is printed, from a call during which UE 1 has begun a line. */
#include "RCCE.h"

int RCCE_APP(int argc, char** argv) {
  RCCE_REQUEST request;
  int i, new_fdiv, new_vlevel;
  RCCE_init(&argc, &argv);
  RCCE_debug_set(RCCE_DEBUG_ALL);
  if (RCCE_ue() == 0) {
    /* At the lowest voltage 800 MHz is not safe. */
    RCCE_iset_power(16, &request, &new_fdiv, &new_vlevel);
    RCCE_wait_power(&request);
    RCCE_barrier(&RCCE_COMM_WORLD);
    for (i = 0; i < 100; i++) RCCE_set_frequency_divider(2, &new_fdiv);
  } else {
    RCCE_barrier(&RCCE_COMM_WORLD);
    fprintf(stderr, "begun and ");
    for (i = 0; i < 1000; i++) RCCE_wtime();
    fprintf(stderr, "ended\n");
  }
  RCCE_finalize();
  return 0;
}

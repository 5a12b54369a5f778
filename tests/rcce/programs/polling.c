/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that look for something without waiting for it in RCCE: for a time, for memory that is
   not simulated, for a message. The first argument says which; they end unless it is "never". */
#include "iRCCE.h"

int RCCE_APP(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  volatile int* flag;
  double begun;
  int me, failures = 0;
  RCCE_init(&argc, &argv);
  me = RCCE_ue();
  flag = (volatile int*)RCCE_shmalloc(sizeof(int));
  RCCE_barrier(&RCCE_COMM_WORLD);
  begun = RCCE_wtime();
  if (strcmp(what, "time") == 0) {
    while (RCCE_wtime() < begun + 1e-4) {
    }
  } else if (strcmp(what, "never") == 0) {
    while (!*flag) RCCE_fence();
  } else {
    /* The last UE sets the flag after a while, long before the others' patience ends. */
    if (me == RCCE_num_ues() - 1) {
      creek_charge(10000);
      RCCE_fence();
      *flag = 1;
    }
    if (strcmp(what, "fence") == 0) {
      while (!*flag) RCCE_fence();
    } else if (strcmp(what, "flush") == 0) {
      while (!*flag) RCCE_shflush();
    } else {
      while (!*flag && RCCE_wtime() < begun + 1) {
      }
      failures += !*flag;
    }
  }
  RCCE_finalize();
  return failures != 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of RCCE's library that programs find in its inner header or declare themselves, and
   shared memory with the types of its header. UE 0 prints the dividers of all tiles. */
#include "RCCE_lib.h"

void print_dividers(void);

int RCCE_APP(int argc, char** argv) {
  int ids[] = {4, -1, 3, 9, 0}, me, i, failures = 0;
  t_vcharp shared;
  RCCE_init(&argc, &argv);
  me = RCCE_ue();
  RCCE_qsort((char*)ids, 5, sizeof ids[0], id_compare);
  for (i = 1; i < 5; i++) failures += ids[i - 1] > ids[i];

  shared = (t_vcharp)RCCE_shmalloc(64);
  if (me == 0) shared[5] = 77;
  RCCE_shflush();
  RCCE_barrier(&RCCE_COMM_WORLD);
  RCCE_DCMflush();
  failures += shared[5] != 77;
  RCCE_barrier(&RCCE_COMM_WORLD);
  RCCE_shfree(shared);

  if (me == 0) print_dividers();
  RCCE_finalize();
  return failures != 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Mutual exclusion by RCCE's locks, over off-chip shared memory that all UEs see. */
#include "RCCE.h"

#define ENTRIES 20

int RCCE_APP(int argc, char** argv) {
  int me, ues, i, failures = 0;
  volatile int* counter;
  char* page;
  RCCE_init(&argc, &argv);
  me = RCCE_ue();
  ues = RCCE_num_ues();
  counter = (volatile int*)RCCE_shmalloc(sizeof(int));
  page = (char*)RCCE_shmalloc(100);
  if (counter == NULL || page == NULL || *counter != 0) failures++;
  RCCE_barrier(&RCCE_COMM_WORLD);
  for (i = 0; i < ENTRIES; i++) {
    int seen;
    RCCE_acquire_lock(ues / 2);
    seen = *counter;
    creek_charge(50);
    *counter = seen + 1;
    RCCE_release_lock(ues / 2);
  }
  if (RCCE_acquire_lock(ues) != RCCE_ERROR_ID) failures++;
  RCCE_barrier(&RCCE_COMM_WORLD);
  if (*counter != ENTRIES * ues) failures++;
  page[me] = (char)me;
  RCCE_barrier(&RCCE_COMM_WORLD);
  for (i = 0; i < ues; i++) failures += page[i] != i;
  RCCE_shfree(page);
  RCCE_finalize();
  if (failures) printf("UE %d: %d failures, counter %d\n", me, failures, *counter);
  return failures != 0;
}

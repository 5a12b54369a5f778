/* SPDX-License-Identifier: Apache-2.0 */
/* Voltage and frequency: the master of each domain slows its island down and restores it;
   computation takes longer in proportion to the clock. Calls of other UEs change nothing. Argument
   "timed": time is simulated. */
#include <math.h>

#include "RCCE.h"

static double compute(void) {
  double begun = RCCE_wtime();
  creek_charge(100000);
  return RCCE_wtime() - begun;
}

static int step(int fdiv, int master) {
  RCCE_REQUEST request, none;
  int new_fdiv = 0, new_vlevel = -1, failures = 0;
  memset(&none, 0, sizeof none);
  if (master) {
    if (RCCE_wait_power(&none) != RCCE_ERROR_NO_ACTIVE_RPC_REQUEST) failures++;
    if (RCCE_iset_power(fdiv, &request, &new_fdiv, &new_vlevel)) failures++;
    if (RCCE_iset_power(fdiv, &none, &new_fdiv, &new_vlevel) != RCCE_ERROR_MULTIPLE_RPC_REQUESTS) {
      failures++;
    }
    if (RCCE_wait_power(&none) != RCCE_ERROR_STALE_RPC_REQUEST) failures++;
    if (RCCE_wait_power(&request)) failures++;
    if (new_fdiv != (fdiv == RCCE_POWER_DEFAULT ? 3 : fdiv) || new_vlevel < 0) failures++;
  }
  RCCE_barrier(&RCCE_P_COMM);
  return failures;
}

int RCCE_APP(int argc, char** argv) {
  int me, timed, master, new_fdiv = 0, new_vlevel = 0, size, failures = 0;
  double usual, slow;
  RCCE_REQUEST request;
  RCCE_init(&argc, &argv);
  timed = argc > 1 && strcmp(argv[1], "timed") == 0;
  me = RCCE_ue();
  master = RCCE_power_domain_master();
  RCCE_comm_size(RCCE_P_COMM, &size);
  if (size != RCCE_power_domain_size() || size > 8 || RCCE_P_COMM.member[0] != master) failures++;
  if (RCCE_power_domain() < 0 || RCCE_power_domain() > 5) failures++;
  if (RCCE_iset_power(17, &request, &new_fdiv, &new_vlevel) != RCCE_ERROR_FDIVIDER) failures++;
  if (RCCE_set_frequency_divider(1, &new_fdiv) != RCCE_ERROR_FDIVIDER) failures++;

  usual = compute();
  failures += step(12, me == master);
  slow = compute();
  if (timed && fabs(slow / usual - 4) > 0.01) failures++;
  RCCE_barrier(&RCCE_P_COMM);
  /* The voltage is now for 133 MHz: 800 would not be safe. */
  if (timed && me == master &&
      RCCE_set_frequency_divider(2, &new_fdiv) != RCCE_ERROR_FREQUENCY_EXCEEDED)
    failures++;
  /* Only the master decides, for the whole domain. */
  if (RCCE_set_frequency_divider(me == master ? 16 : 14, &new_fdiv)) failures++;
  RCCE_barrier(&RCCE_P_COMM);
  slow = compute();
  if (timed && fabs(slow / usual - 16.0 / 3) > 0.01) failures++;
  if (me != master &&
      (RCCE_iset_power(3, &request, &new_fdiv, &new_vlevel) || RCCE_wait_power(&request)))
    failures++;
  RCCE_barrier(&RCCE_P_COMM);
  slow = compute();
  if (timed && fabs(slow / usual - 16.0 / 3) > 0.01) failures++;
  failures += step(RCCE_POWER_DEFAULT, me == master);
  if (timed && fabs(compute() / usual - 1) > 0.01) failures++;
  RCCE_finalize();
  if (failures) printf("UE %d: %d failures\n", me, failures);
  return failures != 0;
}

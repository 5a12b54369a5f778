/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators of rows and of every third UE; barriers, broadcasts and reductions in them. */
#include "RCCE.h"

static int row(int ue, void* width) {
  return ue / *(int*)width;
}
static int third(int ue, void* unused) {
  (void)unused;
  return ue % 3;
}

static int check(RCCE_COMM* comm, int (*color)(int, void*), void* aux, int me, int ues) {
  int i, size = 0, rank = -1, sum = 0, sent, got = -1, n, r, failures = 0;
  for (i = 0; i < ues; i++) {
    if (color(i, aux) != color(me, aux)) continue;
    if (i == me) rank = size;
    size++;
    sum += i;
  }
  if (RCCE_comm_size(*comm, &n) || n != size) failures++;
  if (RCCE_comm_rank(*comm, &r) || r != rank || comm->member[rank] != me) failures++;
  RCCE_barrier(comm);
  sent = me;
  RCCE_allreduce((char*)&sent, (char*)&got, 1, RCCE_INT, RCCE_SUM, *comm);
  if (got != sum) failures++;
  got = rank == size - 1 ? 4711 + size : 0;
  RCCE_bcast((char*)&got, sizeof got, size - 1, *comm);
  if (got != 4711 + size) failures++;
  return failures;
}

int RCCE_APP(int argc, char** argv) {
  static RCCE_COMM rows, thirds, again;
  int me, ues, width = 4, i, failures = 0;
  RCCE_init(&argc, &argv);
  me = RCCE_ue();
  ues = RCCE_num_ues();
  if (RCCE_barrier(&rows) != RCCE_ERROR_COMM_UNDEFINED) failures++;
  if (RCCE_comm_split(row, &width, &rows)) failures++;
  if (RCCE_comm_split(third, NULL, &thirds)) failures++;
  failures += check(&rows, row, &width, me, ues);
  failures += check(&thirds, third, NULL, me, ues);
  /* Overwritten, with other members each time. */
  for (width = 1; width < 40; width++) {
    if (RCCE_comm_split(row, &width, &rows)) failures++;
    if (width % 10 == 0) failures += check(&rows, row, &width, me, ues);
  }
  failures += check(&rows, row, &(int){39}, me, ues);
  /* Their MPB lines are returned each time. */
  for (i = 0; i < 50; i++) {
    if (RCCE_comm_split(row, &width, &again)) failures++;
    RCCE_barrier(&again);
    if (RCCE_comm_free(&again)) failures++;
  }
  if (RCCE_comm_free(&RCCE_COMM_WORLD) != RCCE_ERROR_COMM_UNDEFINED) failures++;
  if (RCCE_comm_free(&rows) || RCCE_comm_free(&rows) != RCCE_ERROR_COMM_UNDEFINED) failures++;
  RCCE_finalize();
  if (failures) printf("UE %d: %d failures\n", me, failures);
  return failures != 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of growing size go back and forth between neighbours; an odd last UE only watches. */
#include "RCCE.h"

#define LARGEST 20000

static char data[LARGEST], expected[LARGEST];
static int rounds; /* a global of each UE's own */

static void fill(char* to, int size, int seed) {
  int i;
  for (i = 0; i < size; i++) to[i] = (char)(seed * 31 + i * 7);
}

int RCCE_APP(int argc, char** argv) {
  int me, ues, peer, size, failures = 0;
  double begun;
  RCCE_init(&argc, &argv);
  me = RCCE_ue();
  ues = RCCE_num_ues();
  peer = me % 2 == 0 ? me + 1 : me - 1;
  begun = RCCE_wtime();
  for (size = 0; size <= LARGEST; size = size * 3 + 1) {
    if (peer >= ues) break;
    fill(expected, size, peer * 100 + size);
    if (me % 2 == 0) {
      fill(data, size, me * 100 + size);
      RCCE_send(data, size, peer);
      RCCE_recv(data, size, peer);
    } else {
      RCCE_recv(data, size, peer);
    }
    if (memcmp(data, expected, size) != 0) failures++;
    if (me % 2 != 0) {
      fill(data, size, me * 100 + size);
      RCCE_send(data, size, peer);
    }
    rounds++;
  }
  if (peer < ues && rounds != 10) failures++;
  if (peer < ues && RCCE_wtime() <= begun) failures++;
  if (RCCE_send(data, 1, ues) != RCCE_ERROR_ID) failures++;
  if (RCCE_recv(data, 1, -1) != RCCE_ERROR_ID) failures++;
  RCCE_finalize();
  printf("UE %d: %d rounds, %d failures\n", me, rounds, failures);
  return failures;
}

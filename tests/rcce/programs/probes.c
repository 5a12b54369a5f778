/* SPDX-License-Identifier: Apache-2.0 */
/* iRCCE's probes, tests without arguments, requests without handles, and its other names. */
#include "iRCCE_lib.h"

#define N 1000

static char out[N], in[N];

static void fill(char* data, int seed) {
  int i;
  for (i = 0; i < N; i++) data[i] = (char)(i * 7 + seed);
}
static int differs(int seed) {
  char expected[N];
  fill(expected, seed);
  return memcmp(in, expected, N) != 0;
}

/* All UEs send to UE 0, which learns the senders by probing. */
static int gather(int me, int ues) {
  int i, rank, found, failures = 0;
  if (me != 0) {
    failures += iRCCE_isend(out, N, 0, NULL) != iRCCE_SUCCESS;
    return failures;
  }
  for (i = 1; i < ues; i++) {
    iRCCE_probe(iRCCE_ANY_SOURCE, &rank);
    if (rank < 1 || rank >= ues) return failures + 1;
    iRCCE_iprobe(rank, NULL, &found);
    failures += found != 1;
    failures += iRCCE_irecv(in, N, rank, NULL) != iRCCE_SUCCESS;
    failures += differs(rank);
  }
  iRCCE_iprobe(iRCCE_ANY_SOURCE, &rank, &found);
  return failures + (found != 0 || rank != iRCCE_ANY_SOURCE);
}

/* To the right and from the left, once for each way to see that it is complete. */
static int around(int me, int ues) {
  int right = (me + 1) % ues, left = (me + ues - 1) % ues, way, failures = 0;
  for (way = 0; way < 4; way++) {
    RCCE_SEND_REQUEST send, *sent;
    RCCE_RECV_REQUEST recv, *got;
    iRCCE_WAIT_LIST list;
    memset(in, 0, N);
    RCCE_irecv(in, N, left, &recv);
    RCCE_isend(out, N, right, &send);
    if (way == 0) {
      while (iRCCE_isend_push() != iRCCE_SUCCESS || iRCCE_irecv_push() != iRCCE_SUCCESS) {
      }
    } else if (way == 1) {
      while (iRCCE_isend_test(NULL, NULL) != iRCCE_SUCCESS) {
      }
      iRCCE_irecv_wait(NULL);
    } else if (way == 2) {
      while (iRCCE_isend_test(&send, NULL) != iRCCE_SUCCESS) {
      }
      RCCE_irecv_wait(&recv);
    } else {
      int left_over = 2;
      iRCCE_init_wait_list(&list);
      iRCCE_add_send_to_wait_list(&list, &send);
      iRCCE_add_recv_to_wait_list(&list, &recv);
      while (left_over > 0) {
        if (iRCCE_test_any(&list, &sent, &got) != iRCCE_SUCCESS) continue;
        failures += (sent == &send) == (got == &recv);
        left_over--;
      }
      failures += iRCCE_test_any(&list, &sent, &got) != iRCCE_PENDING;
    }
    failures += iRCCE_isend_test(&send, NULL) != iRCCE_SUCCESS;
    failures += iRCCE_get_dest(&send) != right || iRCCE_get_source(&recv) != left;
    failures += send.privbuf != out || recv.privbuf != in;
    failures += iRCCE_get_size(&send, NULL) != N || iRCCE_get_size(NULL, &recv) != N;
    failures += differs(left);
  }
  return failures;
}

static int pipelined(int me, int ues) {
  int there = 0;
  if (ues < 2 || me > 1) return 0;
  if (me == 0) return iRCCE_ssend(out, N, 1) != iRCCE_SUCCESS;
  while (!there) iRCCE_srecv_test(in, N, 0, &there);
  return differs(0);
}

int RCCE_APP(int argc, char** argv) {
  int me, ues, word = 5, failures = 0;
  RCCE_init(&argc, &argv);
  iRCCE_init();
  me = RCCE_ue();
  ues = RCCE_num_ues();
  fill(out, me);
  failures += gather(me, ues);
  iRCCE_barrier(NULL);
  failures += around(me, ues);
  iRCCE_barrier(&RCCE_COMM_WORLD);
  failures += pipelined(me, ues);
  if (me == 0) word = 17;
  iRCCE_bcast((char*)&word, sizeof word, 0, RCCE_COMM_WORLD);
  failures += word != 17;
  RCCE_finalize();
  if (failures) printf("UE %d: %d failures\n", me, failures);
  return failures != 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* iRCCE: sends and receives in progress together, wait lists, any source, cancelling, and the
   pipelined blocking pair, and each kind of send with each kind of receive. */
#include "iRCCE.h"

#define SIZE 9000

static char out[SIZE], in[48][SIZE];

static void fill(int ue) {
  int i;
  for (i = 0; i < SIZE; i++) out[i] = (char)(ue * 13 + i);
}
static int wrong(const char* got, int size, int ue) {
  int i, failures = 0;
  for (i = 0; i < size; i++) failures += got[i] != (char)(ue * 13 + i);
  return failures;
}

/* Each UE sends to the next two and receives from the two before, all at once. */
static int neighbours(int me, int ues) {
  iRCCE_SEND_REQUEST send[2];
  iRCCE_RECV_REQUEST recv[2];
  iRCCE_WAIT_LIST list;
  int k, failures = 0, done = 0;
  iRCCE_init_wait_list(&list);
  for (k = 0; k < 2; k++) {
    iRCCE_isend(out, SIZE, (me + k + 1) % ues, &send[k]);
    iRCCE_irecv(in[k], SIZE, (me + 2 * ues - k - 1) % ues, &recv[k]);
    iRCCE_add_to_wait_list(&list, &send[k], &recv[k]);
  }
  if (iRCCE_test_all(&list, &done) == iRCCE_SUCCESS && !done) failures++;
  if (!done) iRCCE_wait_all(&list);
  for (k = 0; k < 2; k++) {
    failures += wrong(in[k], SIZE, (me + 2 * ues - k - 1) % ues);
    iRCCE_isend_test(&send[k], &done);
    failures += !done;
  }
  return failures;
}

/* UE 0 receives one message from each UE, in the order of arrival. */
static int any_source(int me, int ues) {
  static iRCCE_RECV_REQUEST recv[48];
  static int seen[48];
  iRCCE_SEND_REQUEST send;
  iRCCE_SEND_REQUEST* sent;
  iRCCE_RECV_REQUEST* got;
  iRCCE_WAIT_LIST list;
  int k, failures = 0;
  if (me != 0) {
    iRCCE_isend(out, 500, 0, &send);
    return iRCCE_isend_wait(&send) != iRCCE_SUCCESS;
  }
  iRCCE_init_wait_list(&list);
  for (k = 1; k < ues; k++) {
    iRCCE_irecv(in[k], 500, iRCCE_ANY_SOURCE, &recv[k]);
    iRCCE_add_to_wait_list(&list, NULL, &recv[k]);
  }
  for (k = 1; k < ues; k++) {
    if (iRCCE_wait_any(&list, &sent, &got) || sent != NULL || got == NULL) return failures + 1;
    if (got->source < 1 || got->source >= ues || seen[got->source]++) return failures + 1;
    failures += wrong(in[got - recv], 500, got->source);
  }
  if (iRCCE_wait_any(&list, &sent, &got) != iRCCE_NOT_ENQUEUED) failures++;
  return failures;
}

static int cancelling(int me, int ues) {
  iRCCE_SEND_REQUEST first, second;
  iRCCE_RECV_REQUEST never, behind;
  iRCCE_WAIT_LIST list;
  int done = 0, failures = 0;
  if (ues < 2) return 0;
  if (me > 1) RCCE_barrier(&RCCE_COMM_WORLD);
  if (me == 0) {
    if (iRCCE_irecv(in[0], 100, 1, &never) != iRCCE_PENDING) failures++;
    if (iRCCE_irecv(in[1], 100, 1, &behind) != iRCCE_RESERVED) failures++;
    if (iRCCE_irecv_test(&behind, &done) != iRCCE_RESERVED) failures++;
    iRCCE_irecv_cancel(&never, &done);
    failures += !done;
    if (iRCCE_irecv_test(&behind, &done) != iRCCE_PENDING) failures++;
    if (iRCCE_irecv_cancel(&behind, NULL) != iRCCE_SUCCESS) failures++;
    /* Nothing is left to wait for. */
    if (iRCCE_irecv_cancel(&never, &done) != iRCCE_NOT_ENQUEUED || done) failures++;
    if (iRCCE_irecv_cancel(NULL, &done) != iRCCE_NOT_ENQUEUED || done) failures++;
    if (iRCCE_irecv_test(&never, &done) != iRCCE_NOT_ENQUEUED || done) failures++;
    if (iRCCE_irecv_wait(&never) != iRCCE_NOT_ENQUEUED) failures++;
    iRCCE_init_wait_list(&list);
    iRCCE_add_to_wait_list(&list, NULL, &never);
    if (iRCCE_wait_all(&list) != iRCCE_SUCCESS) failures++;
    iRCCE_isend(out, 100, 1, &first);
    if (iRCCE_isend(out, 100, 1, &second) != iRCCE_RESERVED) failures++;
    iRCCE_isend_cancel(&second, &done);
    failures += !done;
    RCCE_barrier(&RCCE_COMM_WORLD); /* only now the first may be received, and the next begin */
    iRCCE_isend_wait(&first);
    if (iRCCE_isend_cancel(&first, &done) != iRCCE_NOT_ENQUEUED || done) failures++;
  }
  if (me == 1) {
    RCCE_barrier(&RCCE_COMM_WORLD);
    while (!done) RCCE_recv_test(in[0], 100, 0, &done);
    failures += wrong(in[0], 100, 0);
  }
  return failures;
}

static int pipelined(int me, int ues) {
  int failures = 0, peer = me ^ 1;
  if (peer >= ues) return 0;
  if (me < peer) {
    iRCCE_send(out, SIZE, peer);
    iRCCE_recv(in[0], SIZE, peer);
  } else {
    iRCCE_recv(in[0], SIZE, peer);
    iRCCE_send(out, SIZE, peer);
  }
  failures += wrong(in[0], SIZE, peer);
  return failures;
}

static void send_as(int kind, int to) {
  iRCCE_SEND_REQUEST request;
  if (kind == 0) RCCE_send(out, SIZE, to);
  if (kind == 1) iRCCE_send(out, SIZE, to);
  if (kind == 2) {
    iRCCE_isend(out, SIZE, to, &request);
    iRCCE_isend_wait(&request);
  }
}
static int receive_as(int kind, int from) {
  iRCCE_RECV_REQUEST request;
  memset(in[0], 0, SIZE);
  if (kind == 0) RCCE_recv(in[0], SIZE, from);
  if (kind == 1) iRCCE_recv(in[0], SIZE, from);
  if (kind >= 2) {
    iRCCE_irecv(in[0], SIZE, kind == 2 ? from : iRCCE_ANY_SOURCE, &request);
    iRCCE_irecv_wait(&request);
  }
  return wrong(in[0], SIZE, from);
}
static int mixed(int me, int ues) {
  int sent, got, twice, failures = 0, peer = me ^ 1;
  if (peer >= ues) return 0;
  for (sent = 0; sent < 3; sent++) {
    /* Pairs have no common peers, so any source means the peer. */
    for (got = 0; got < 4; got++) {
      for (twice = 0; twice < 2; twice++) {
        if (me < peer) {
          send_as(sent, peer);
        } else {
          failures += receive_as(got, peer);
        }
      }
    }
  }
  return failures;
}

int RCCE_APP(int argc, char** argv) {
  int me, ues, failures[5], i, all = 0;
  RCCE_init(&argc, &argv);
  iRCCE_init();
  me = RCCE_ue();
  ues = RCCE_num_ues();
  fill(me);
  failures[0] = neighbours(me, ues);
  RCCE_barrier(&RCCE_COMM_WORLD);
  failures[1] = any_source(me, ues);
  RCCE_barrier(&RCCE_COMM_WORLD);
  failures[2] = cancelling(me, ues);
  RCCE_barrier(&RCCE_COMM_WORLD);
  failures[3] = pipelined(me, ues);
  failures[4] = mixed(me, ues);
  RCCE_finalize();
  for (i = 0; i < 5; i++) {
    if (failures[i]) printf("UE %d: part %d: %d failures\n", me, i, failures[i]);
    all += failures[i];
  }
  return all != 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* iRCCE [Clauss 2011]: RCCE with sends and receives that go on while the program computes,
   receives from any UE, lists of requests to wait for, and pipelined blocking sends and receives.
   A request is in the program's memory and must stay there until it is complete or cancelled. */
#ifndef IRCCE_H
#define IRCCE_H

#include <sys/types.h>

#include "RCCE.h"

#ifdef __cplusplus
extern "C" {
#endif

#define iRCCE_SUCCESS RCCE_SUCCESS
#define iRCCE_ERROR (-1)
#define iRCCE_PENDING (-2)      /* not complete, first in line */
#define iRCCE_RESERVED (-3)     /* waits behind other requests */
#define iRCCE_NOT_ENQUEUED (-4) /* no such request is under way: already complete or cancelled */

#define iRCCE_ANY_SOURCE (-1)

typedef struct {
  char* privbuf; /* the program's data */
  int dest;
  size_t size;
  long long opaque[16]; /* used by creek */
} iRCCE_SEND_REQUEST;

typedef struct {
  char* privbuf;
  int source; /* sender of the message, for a complete iRCCE_ANY_SOURCE request */
  size_t size;
  long long opaque[16];
} iRCCE_RECV_REQUEST;

typedef struct {
  void* opaque;
} iRCCE_WAIT_LIST;

int iRCCE_init(void);
/* With a null request, isend and irecv wait, and tests and waits are for all sends, or receives;
   `done` may be null everywhere. */
int iRCCE_isend(char* data, ssize_t size, int to, iRCCE_SEND_REQUEST* request);
int iRCCE_irecv(char* data, ssize_t size, int from, iRCCE_RECV_REQUEST* request);
int iRCCE_isend_test(iRCCE_SEND_REQUEST* request, int* done);
int iRCCE_irecv_test(iRCCE_RECV_REQUEST* request, int* done);
int iRCCE_isend_wait(iRCCE_SEND_REQUEST* request);
int iRCCE_irecv_wait(iRCCE_RECV_REQUEST* request);
int iRCCE_isend_push(void);
int iRCCE_irecv_push(void);
int iRCCE_isend_cancel(iRCCE_SEND_REQUEST* request, int* cancelled);
int iRCCE_irecv_cancel(iRCCE_RECV_REQUEST* request, int* cancelled);
void iRCCE_init_wait_list(iRCCE_WAIT_LIST* list);
void iRCCE_add_to_wait_list(iRCCE_WAIT_LIST* list, iRCCE_SEND_REQUEST* send,
                            iRCCE_RECV_REQUEST* recv);
int iRCCE_wait_all(iRCCE_WAIT_LIST* list);
int iRCCE_test_all(iRCCE_WAIT_LIST* list, int* done);
int iRCCE_wait_any(iRCCE_WAIT_LIST* list, iRCCE_SEND_REQUEST** send, iRCCE_RECV_REQUEST** recv);
int iRCCE_test_any(iRCCE_WAIT_LIST* list, iRCCE_SEND_REQUEST** send, iRCCE_RECV_REQUEST** recv);
void iRCCE_add_send_to_wait_list(iRCCE_WAIT_LIST* list, iRCCE_SEND_REQUEST* send);
void iRCCE_add_recv_to_wait_list(iRCCE_WAIT_LIST* list, iRCCE_RECV_REQUEST* recv);
int iRCCE_get_dest(iRCCE_SEND_REQUEST* request);
int iRCCE_get_source(iRCCE_RECV_REQUEST* request);
int iRCCE_get_size(iRCCE_SEND_REQUEST* send, iRCCE_RECV_REQUEST* recv); /* of the non-null one */
int iRCCE_probe(int from, int* rank); /* waits for a message; `from` may be iRCCE_ANY_SOURCE */
int iRCCE_iprobe(int from, int* rank, int* found);
int iRCCE_send(char* data, ssize_t size, int to);
int iRCCE_recv(char* data, ssize_t size, int from);
int iRCCE_recv_test(char* data, ssize_t size, int from, int* test);
int iRCCE_barrier(RCCE_COMM* comm); /* null: the barrier of all UEs */
int iRCCE_bcast(char* data, size_t size, int root, RCCE_COMM comm);

/* Names of other versions. */
#define iRCCE_ssend iRCCE_send
#define iRCCE_srecv iRCCE_recv
#define iRCCE_srecv_test iRCCE_recv_test
#define iRCCE_issend iRCCE_isend
#define iRCCE_issend_test iRCCE_isend_test
#define iRCCE_issend_wait iRCCE_isend_wait
#define iRCCE_issend_push iRCCE_isend_push
#define iRCCE_isrecv iRCCE_irecv
#define iRCCE_isrecv_test iRCCE_irecv_test
#define iRCCE_isrecv_wait iRCCE_irecv_wait
#define iRCCE_isrecv_push iRCCE_irecv_push
#define RCCE_isend iRCCE_isend
#define RCCE_isend_test iRCCE_isend_test
#define RCCE_isend_wait iRCCE_isend_wait
#define RCCE_isend_push iRCCE_isend_push
#define RCCE_irecv iRCCE_irecv
#define RCCE_irecv_test iRCCE_irecv_test
#define RCCE_irecv_wait iRCCE_irecv_wait
#define RCCE_irecv_push iRCCE_irecv_push
#define RCCE_SEND_REQUEST iRCCE_SEND_REQUEST
#define RCCE_RECV_REQUEST iRCCE_RECV_REQUEST

#ifdef __cplusplus
}
#endif

#endif

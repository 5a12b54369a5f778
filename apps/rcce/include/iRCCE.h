/* SPDX-License-Identifier: Apache-2.0 */
/* iRCCE: RCCE with sends and receives that go on while the program computes, receives from
   anybody, lists of requests to wait for, and pipelined blocking sends and receives. A request
   lies in the program's memory and must stay there until it is complete or cancelled. */
#ifndef IRCCE_H
#define IRCCE_H

#include <sys/types.h>

#include "RCCE.h"

#ifdef __cplusplus
extern "C" {
#endif

#define iRCCE_SUCCESS RCCE_SUCCESS
#define iRCCE_ERROR (-1)
#define iRCCE_PENDING (-2)      /* begun, not complete */
#define iRCCE_RESERVED (-3)     /* behind others, not begun */
#define iRCCE_NOT_ENQUEUED (-4) /* no such request is under way */

#define iRCCE_ANY_SOURCE (-1)

typedef struct {
  int dest;
  size_t size;
  long long opaque[16]; /* creek's */
} iRCCE_SEND_REQUEST;

typedef struct {
  int source; /* of an iRCCE_ANY_SOURCE request that is complete: whose message it was */
  size_t size;
  long long opaque[16];
} iRCCE_RECV_REQUEST;

typedef struct {
  void* opaque;
} iRCCE_WAIT_LIST;

int iRCCE_init(void);
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
int iRCCE_send(char* data, ssize_t size, int to);
int iRCCE_recv(char* data, ssize_t size, int from);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* RCCE, the message-passing interface of the Single-chip Cloud Computer, for programs that
   rccerun starts on creek's simulated chip or on host threads. Source compatible with the
   published interface [Mattson 2010], in C and C++. Choose before including:
     GORY                 the one-sided interface: MPB memory and flags are the program's
     SINGLEBITFLAGS       flags of a bit each, under a lock, in place of a line each
     RC_POWER_MANAGEMENT  voltage and frequency
   Functions return RCCE_SUCCESS or an error code, and print "code, message, UE" for the kinds of
   call that RCCE_debug_set() names. docs/scc/rcce.md explains how to build and run. */
#ifndef RCCE_H
#define RCCE_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RCCE_SUCCESS 0
#define RCCE_LINE_SIZE 32       /* bytes; sizes of MPB memory are multiples of it */
#define RCCE_BUFF_SIZE_MAX 8192 /* bytes of MPB per core on the SCC */
#define RCCE_MAXNP 48
#define RCCE_SHM_SIZE_MAX (1 << 26) /* bytes of off-chip memory for RCCE_shmalloc */

#define RCCE_FLAG_SET 1
#define RCCE_FLAG_UNSET 0

#define RCCE_SUM 0
#define RCCE_MIN 1
#define RCCE_MAX 2
#define RCCE_PROD 3

#define RCCE_INT 0
#define RCCE_LONG 1
#define RCCE_FLOAT 2
#define RCCE_DOUBLE 3

#define RCCE_ERROR_BASE 1234321
#define RCCE_ERROR_TARGET (RCCE_ERROR_BASE + 1)
#define RCCE_ERROR_SOURCE (RCCE_ERROR_BASE + 2)
#define RCCE_ERROR_ID (RCCE_ERROR_BASE + 3)
#define RCCE_ERROR_MESSAGE_LENGTH (RCCE_ERROR_BASE + 4)
#define RCCE_ERROR_FLAG_UNDEFINED (RCCE_ERROR_BASE + 5)
#define RCCE_ERROR_NUM_UES (RCCE_ERROR_BASE + 6)
#define RCCE_ERROR_DATA_OVERLAP (RCCE_ERROR_BASE + 7)
#define RCCE_ERROR_ALIGNMENT (RCCE_ERROR_BASE + 8)
#define RCCE_ERROR_DEBUG_FLAG (RCCE_ERROR_BASE + 9)
#define RCCE_ERROR_FLAG_NOT_IN_COMM_BUFFER (RCCE_ERROR_BASE + 10)
#define RCCE_ERROR_FLAG_STATUS_UNDEFINED (RCCE_ERROR_BASE + 11)
#define RCCE_ERROR_FLAG_NOT_ALLOCATED (RCCE_ERROR_BASE + 12)
#define RCCE_ERROR_VAL_UNDEFINED (RCCE_ERROR_BASE + 13)
#define RCCE_ERROR_INVALID_ERROR_CODE (RCCE_ERROR_BASE + 14)
#define RCCE_ERROR_RPC_NOT_ALLOCATED (RCCE_ERROR_BASE + 15)
#define RCCE_ERROR_RPC_INTERNAL (RCCE_ERROR_BASE + 16)
#define RCCE_ERROR_MULTIPLE_RPC_REQUESTS (RCCE_ERROR_BASE + 17)
#define RCCE_ERROR_FDIVIDER (RCCE_ERROR_BASE + 18)
#define RCCE_ERROR_FREQUENCY_EXCEEDED (RCCE_ERROR_BASE + 19)
#define RCCE_ERROR_NO_ACTIVE_RPC_REQUEST (RCCE_ERROR_BASE + 20)
#define RCCE_ERROR_STALE_RPC_REQUEST (RCCE_ERROR_BASE + 21)
#define RCCE_ERROR_COMM_UNDEFINED (RCCE_ERROR_BASE + 22)
#define RCCE_ERROR_ILLEGAL_OP (RCCE_ERROR_BASE + 23)
#define RCCE_ERROR_ILLEGAL_TYPE (RCCE_ERROR_BASE + 24)
#define RCCE_ERROR_MALLOC (RCCE_ERROR_BASE + 25)
#define RCCE_ERROR_COMM_INITIALIZED (RCCE_ERROR_BASE + 26)
#define RCCE_ERROR_CORE_NOT_IN_HOSTFILE (RCCE_ERROR_BASE + 27)
#define RCCE_MAX_ERROR_STRING 45 /* bytes of the longest message, with its end */

#define RCCE_DEBUG_ALL 111111
#define RCCE_DEBUG_SYNCH 111444
#define RCCE_DEBUG_COMM 111555
#define RCCE_DEBUG_RPC 111666
#define RCCE_DEBUG_DEBUG 111888

#define RCCE_POWER_DEFAULT (-99999)

#define RCCE_COMM_INITIALIZED 45328976
#define RCCE_COMM_NOT_INITIALIZED (-45328976)

typedef volatile unsigned char* t_vcharp;

/* A flag: an object at the same offset in the MPB of every UE. Opaque to programs. */
typedef struct {
  int location;          /* bit within the line, or -1: the whole line */
  t_vcharp line_address; /* in the UE's own MPB */
} RCCE_FLAG;
typedef int RCCE_FLAG_STATUS;

typedef struct {
  int size;
  int my_rank;
  int initialized;
  int member[RCCE_MAXNP]; /* UEs by rank */
  RCCE_FLAG gather;
  RCCE_FLAG release;
} RCCE_COMM;

typedef struct {
  int active; /* nonzero while a change of voltage is under way */
  int old_fdiv;
  int new_fdiv;
  long long ticket; /* creek's number of the request */
} RCCE_REQUEST;

/* Weak definitions, so that every program has one copy of each, private to the UE like all its
   globals, however many of its files include this header. */
__attribute__((weak)) RCCE_COMM RCCE_COMM_WORLD;
#ifdef RC_POWER_MANAGEMENT
__attribute__((weak)) RCCE_COMM RCCE_P_COMM;
#endif
/* Tells rccerun what the program was compiled for. */
#ifdef GORY
__attribute__((weak)) int creek_rcce_gory = 1;
#endif
#ifdef SINGLEBITFLAGS
__attribute__((weak)) int creek_rcce_single_bit_flags = 1;
#endif

/* The program: RCCE_APP, or main if RCCE_APP is a macro for it. */
#ifndef RCCE_APP
int RCCE_APP(int argc, char** argv);
#endif

int RCCE_init(int* argc, char*** argv);
int RCCE_finalize(void);
double RCCE_wtime(void); /* returns seconds: virtual on the chip, elapsed on the host */
int RCCE_ue(void);
int RCCE_num_ues(void);

/* rccerun itself sees both interfaces. */
#ifdef GORY
#define RCCE_send RCCE_send_gory
#define RCCE_recv RCCE_recv_gory
#define RCCE_recv_test RCCE_recv_test_gory
#else
int RCCE_send(char* data, size_t size, int to);
int RCCE_recv(char* data, size_t size, int from);
int RCCE_recv_test(char* data, size_t size, int from, int* test);
#endif
#if defined(GORY) || defined(CREEK_RCCE_ALL)
t_vcharp RCCE_malloc(size_t size);
t_vcharp RCCE_malloc_request(size_t size, size_t* chunk);
void RCCE_free(t_vcharp pointer);
int RCCE_put(t_vcharp target, t_vcharp source, int size, int ue);
int RCCE_get(t_vcharp target, t_vcharp source, int size, int ue);
int RCCE_flag_alloc(RCCE_FLAG* flag);
int RCCE_flag_free(RCCE_FLAG* flag);
int RCCE_flag_write(RCCE_FLAG* flag, RCCE_FLAG_STATUS value, int ue);
int RCCE_flag_read(RCCE_FLAG flag, RCCE_FLAG_STATUS* value, int ue);
int RCCE_wait_until(RCCE_FLAG flag, RCCE_FLAG_STATUS value);
int RCCE_send_gory(char* data, t_vcharp buffer, size_t chunk, RCCE_FLAG* ready, RCCE_FLAG* sent,
                   size_t size, int to);
int RCCE_recv_gory(char* data, t_vcharp buffer, size_t chunk, RCCE_FLAG* ready, RCCE_FLAG* sent,
                   size_t size, int from);
int RCCE_recv_test_gory(char* data, t_vcharp buffer, size_t chunk, RCCE_FLAG* ready,
                        RCCE_FLAG* sent, size_t size, int from, int* test);
#endif
int RCCE_allreduce(char* in, char* out, int num, int type, int op, RCCE_COMM comm);
int RCCE_reduce(char* in, char* out, int num, int type, int op, int root, RCCE_COMM comm);
int RCCE_bcast(char* data, size_t size, int root, RCCE_COMM comm);

int RCCE_comm_split(int (*color)(int, void*), void* aux, RCCE_COMM* comm);
int RCCE_comm_free(RCCE_COMM* comm);
int RCCE_comm_size(RCCE_COMM comm, int* size);
int RCCE_comm_rank(RCCE_COMM comm, int* rank);
int RCCE_barrier(RCCE_COMM* comm);
void RCCE_fence(void);
int RCCE_acquire_lock(int ue);
int RCCE_release_lock(int ue);
int RCCE_error_string(int error, char* text, int* length);
int RCCE_debug_set(int kind);
int RCCE_debug_unset(int kind);
void* RCCE_shmalloc(size_t size); /* allocates off-chip memory of all UEs, uncached */
void RCCE_shfree(volatile void* pointer);
void RCCE_shflush(void);
int RCCE_DCMflush(void);

#if defined(RC_POWER_MANAGEMENT) || defined(CREEK_RCCE_ALL)
int RCCE_power_domain(void);
int RCCE_power_domain_master(void);
int RCCE_power_domain_size(void);
int RCCE_iset_power(int fdiv, RCCE_REQUEST* request, int* new_fdiv, int* new_vlevel);
int RCCE_wait_power(RCCE_REQUEST* request);
int RCCE_set_frequency_divider(int fdiv, int* new_fdiv);
#endif

/* Not in RCCE: states that the UE has computed for that many cycles of its core. Simulated time
   otherwise passes in calls only, unless rccerun is told --clock measured. */
void creek_charge(long long cycles);

#ifdef __cplusplus
}
#endif

#endif

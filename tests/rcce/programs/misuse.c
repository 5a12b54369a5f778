/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments that RCCE refuses with an error: null pointers, communicators not created, sizes
   beyond all memory. */
#include <stdint.h>

#include "RCCE.h"

static int failures = 0;
static void expect(int error, int got, int line) {
  if (got == error) return;
  printf("UE %d, line %d: %d, not %d\n", RCCE_ue(), line, got, error);
  failures++;
}
#define EXPECT(error, call) expect(error, call, __LINE__)

int RCCE_APP(int argc, char** argv) {
  static RCCE_COMM none;
  RCCE_FLAG flag;
  t_vcharp buffer;
  char data[32] = {0};
  size_t chunk = 1;
  int number = 0, me;
  RCCE_init(&argc, &argv);
  me = RCCE_ue();
  EXPECT(RCCE_ERROR_FLAG_UNDEFINED, RCCE_flag_alloc(NULL));
  EXPECT(RCCE_SUCCESS, RCCE_flag_alloc(&flag));
  EXPECT(RCCE_ERROR_FLAG_UNDEFINED, RCCE_flag_free(NULL));
  EXPECT(RCCE_ERROR_FLAG_UNDEFINED, RCCE_flag_write(NULL, RCCE_FLAG_SET, me));
  EXPECT(RCCE_ERROR_VAL_UNDEFINED, RCCE_flag_read(flag, NULL, me));
  buffer = RCCE_malloc(32);
  EXPECT(RCCE_ERROR_FLAG_UNDEFINED, RCCE_send(data, buffer, 32, NULL, &flag, 32, me));
  EXPECT(RCCE_ERROR_FLAG_UNDEFINED, RCCE_recv(data, buffer, 32, &flag, NULL, 32, me));
  EXPECT(RCCE_ERROR_VAL_UNDEFINED, RCCE_recv_test(data, buffer, 32, &flag, &flag, 32, me, NULL));

  EXPECT(RCCE_ERROR_COMM_UNDEFINED, RCCE_barrier(NULL));
  EXPECT(RCCE_ERROR_COMM_UNDEFINED, RCCE_comm_free(NULL));
  EXPECT(RCCE_ERROR_COMM_UNDEFINED, RCCE_comm_split(NULL, NULL, &none));
  EXPECT(RCCE_ERROR_VAL_UNDEFINED, RCCE_comm_size(RCCE_COMM_WORLD, NULL));
  EXPECT(RCCE_ERROR_VAL_UNDEFINED, RCCE_comm_rank(RCCE_COMM_WORLD, NULL));
  EXPECT(RCCE_ERROR_COMM_UNDEFINED,
         RCCE_reduce(data, (char*)&number, 1, RCCE_INT, RCCE_SUM, 0, none));
  EXPECT(RCCE_ERROR_COMM_UNDEFINED, RCCE_bcast(data, 1, 0, none));
  EXPECT(RCCE_ERROR_ID,
         RCCE_reduce(data, (char*)&number, 1, RCCE_INT, RCCE_SUM, -1, RCCE_COMM_WORLD));

  EXPECT(1, RCCE_shmalloc(SIZE_MAX - 7) == NULL);
  EXPECT(1, RCCE_malloc_request(SIZE_MAX - 7, &chunk) != NULL && chunk > 0);
  RCCE_finalize();
  return failures != 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The one-sided interface: MPB memory, put, get and flags; then messages over them. */
#include "RCCE.h"

#define N 64 /* doubles: 16 lines */

static double mine[N], got[N];

static int neighbours(t_vcharp buffer, RCCE_FLAG* filled, RCCE_FLAG* empty, int me, int ues) {
  int right = (me + 1) % ues, left = (me + ues - 1) % ues, step, i, failures = 0;
  for (step = 0; step < 4; step++) {
    for (i = 0; i < N; i++) mine[i] = me * 1000 + step * 100 + i;
    if (step > 0) {
      RCCE_wait_until(*empty, RCCE_FLAG_SET);
      RCCE_flag_write(empty, RCCE_FLAG_UNSET, me);
    }
    RCCE_put(buffer, (t_vcharp)mine, sizeof mine, right);
    RCCE_flag_write(filled, RCCE_FLAG_SET, right);
    RCCE_wait_until(*filled, RCCE_FLAG_SET);
    RCCE_flag_write(filled, RCCE_FLAG_UNSET, me);
    RCCE_get((t_vcharp)got, buffer, sizeof got, me);
    RCCE_flag_write(empty, RCCE_FLAG_SET, left);
    for (i = 0; i < N; i++) failures += got[i] != left * 1000 + step * 100 + i;
  }
  return failures;
}

static int messages(t_vcharp buffer, RCCE_FLAG* ready, RCCE_FLAG* sent, int me, int ues) {
  static char out[3000], in[3000];
  int i, test = 0, failures = 0;
  if (ues < 2 || me > 1) return 0;
  for (i = 0; i < 3000; i++) out[i] = (char)(i * 11 + me);
  if (me == 0) {
    RCCE_send(out, buffer, 512, ready, sent, 3000, 1);
    while (!test) failures += RCCE_recv_test(in, buffer, 512, ready, sent, 3000, 1, &test);
  } else {
    RCCE_recv(in, buffer, 512, ready, sent, 3000, 0);
    RCCE_send(out, buffer, 512, ready, sent, 3000, 0);
  }
  for (i = 0; i < 3000; i++) failures += in[i] != (char)(i * 11 + 1 - me);
  return failures;
}

/* UE 0 sets the others' flags before they allocate them; allocated again they are unset. */
static int flags_set_early(int me, int ues) {
  RCCE_FLAG flag;
  RCCE_FLAG_STATUS value;
  int i, failures = 0;
  if (me != 0) creek_charge(1000000);
  if (RCCE_flag_alloc(&flag)) failures++;
  for (i = 1; me == 0 && i < ues; i++) RCCE_flag_write(&flag, RCCE_FLAG_SET, i);
  if (me != 0) RCCE_wait_until(flag, RCCE_FLAG_SET);
  if (RCCE_flag_free(&flag) || RCCE_flag_alloc(&flag)) failures++;
  if (RCCE_flag_read(flag, &value, me) || value != RCCE_FLAG_UNSET) failures++;
  RCCE_barrier(&RCCE_COMM_WORLD);
  if (RCCE_flag_free(&flag)) failures++;
  return failures;
}

int main(int argc, char** argv) {
  RCCE_FLAG filled, empty, ready, sent;
  RCCE_FLAG_STATUS value = 7;
  t_vcharp buffer, second;
  size_t chunk = 0;
  int me, ues, failures = 0;
  RCCE_init(&argc, &argv);
  me = RCCE_ue();
  ues = RCCE_num_ues();
  failures += flags_set_early(me, ues);
  buffer = RCCE_malloc(512);
  if (buffer == NULL || RCCE_malloc(33) != NULL || RCCE_malloc(1 << 20) != NULL) failures++;
  if (RCCE_flag_alloc(&filled) || RCCE_flag_alloc(&empty)) failures++;
  if (RCCE_flag_alloc(&ready) || RCCE_flag_alloc(&sent)) failures++;
  RCCE_barrier(&RCCE_COMM_WORLD);
  failures += neighbours(buffer, &filled, &empty, me, ues);
  RCCE_barrier(&RCCE_COMM_WORLD);
  failures += messages(buffer, &ready, &sent, me, ues);
  RCCE_barrier(&RCCE_COMM_WORLD);

  /* A flag of the next UE, read from here. */
  RCCE_flag_write(&sent, RCCE_FLAG_SET, me);
  RCCE_barrier(&RCCE_COMM_WORLD);
  if (RCCE_flag_read(sent, &value, (me + 1) % ues) || value != RCCE_FLAG_SET) failures++;
  if (RCCE_flag_read(ready, &value, (me + 1) % ues) || value != RCCE_FLAG_UNSET) failures++;

  if (RCCE_put(buffer, (t_vcharp)mine, 30, me) != RCCE_ERROR_MESSAGE_LENGTH) failures++;
  if (RCCE_put(buffer, (t_vcharp)mine, 32, ues) != RCCE_ERROR_ID) failures++;
  if (RCCE_put((t_vcharp)mine, (t_vcharp)mine, 32, me) != RCCE_ERROR_TARGET) failures++;
  if (RCCE_get((t_vcharp)mine, (t_vcharp)mine, 32, me) != RCCE_ERROR_SOURCE) failures++;
  if (RCCE_put(buffer + 4, (t_vcharp)mine, 32, me) != RCCE_ERROR_ALIGNMENT) failures++;
  if (RCCE_flag_write(&sent, 5, me) != RCCE_ERROR_FLAG_STATUS_UNDEFINED) failures++;

  second = RCCE_malloc_request(1 << 20, &chunk);
  if (second == NULL || chunk % 32 != 0 || chunk < 4096) failures++;
  RCCE_free(second);
  RCCE_free(buffer);
  second = RCCE_malloc(chunk);
  if (second == NULL) failures++;
  RCCE_free(second);
  if (RCCE_flag_free(&sent) || RCCE_flag_free(&sent) != RCCE_ERROR_FLAG_NOT_ALLOCATED) failures++;
  if (RCCE_flag_free(&filled) || RCCE_flag_free(&empty) || RCCE_flag_free(&ready)) failures++;
  RCCE_finalize();
  if (failures) printf("UE %d: %d failures\n", me, failures);
  return failures != 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the error that the first argument names, in UE 1 or in all. */
#include <signal.h>
#include <unistd.h>

#include "iRCCE.h"

static int below(int depth) {
  volatile char room[4096];
  room[depth % 4096] = (char)depth;
  return below(depth + 1) + room[0];
}

int RCCE_APP(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  char text[RCCE_MAX_ERROR_STRING];
  int me, ues, length;
  char byte = 0;
  RCCE_init(&argc, &argv);
  me = RCCE_ue();
  ues = RCCE_num_ues();
  if (strcmp(what, "arguments") == 0) {
    int i;
    for (i = 2; me == 0 && i < argc; i++) printf("%s\n", argv[i]);
  }
  if (strcmp(what, "messages") == 0) {
    int code;
    for (code = RCCE_ERROR_BASE + 1; code <= RCCE_ERROR_BASE + 27; code++) {
      if (RCCE_error_string(code, text, &length) || (int)strlen(text) != length || !length)
        return 1;
    }
    if (RCCE_error_string(3, text, &length) != RCCE_ERROR_INVALID_ERROR_CODE) return 1;
    RCCE_send(&byte, 1, 99); /* not printed yet */
    RCCE_debug_set(RCCE_DEBUG_COMM);
    if (me == 1) RCCE_send(&byte, 1, 77);
    RCCE_debug_unset(RCCE_DEBUG_COMM);
    RCCE_send(&byte, 1, 99);
    return RCCE_debug_set(1) != RCCE_ERROR_DEBUG_FLAG;
  }
  if (strcmp(what, "deadlock") == 0) {
    if (me == 0) RCCE_recv(&byte, 1, 1);
    if (me == 1) RCCE_recv(&byte, 1, 0);
  }
  if (strcmp(what, "barrier") == 0 && me != 0) RCCE_barrier(&RCCE_COMM_WORLD);
  if (strcmp(what, "lock") == 0) RCCE_acquire_lock(0);
  if (me == 1) {
    if (strcmp(what, "crash") == 0) *(volatile int*)8 = 1;
    if (strcmp(what, "send-crash") == 0) RCCE_send((char*)8, 100, 0);
    if (strcmp(what, "abort") == 0) abort();
    if (strcmp(what, "overflow") == 0) return below(0);
    if (strcmp(what, "exit") == 0) exit(5);
    if (strcmp(what, "_exit") == 0) _exit(5);
    if (strcmp(what, "_Exit") == 0) _Exit(5);
    if (strcmp(what, "quick_exit") == 0) quick_exit(5);
    if (strcmp(what, "return") == 0) return 3;
  }
  if (me == 0 && strcmp(what, "send-crash") == 0) RCCE_recv(&byte, 100, 1);
  if (strcmp(what, "lines") == 0) {
    int i, other = 0;
    for (i = 0; i < 20; i++) {
      printf("UE %d ", me);
      if (me > 0) RCCE_recv((char*)&other, sizeof other, me - 1);
      printf("line %d", i);
      fflush(stdout);
      if (me + 1 < ues) RCCE_send((char*)&other, sizeof other, me + 1);
      putchar('\n');
    }
    printf("no end");
  }
  return 0;
}

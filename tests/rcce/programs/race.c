/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong on purpose: all UEs put to the same address of UE 0, in no order. */
#include "RCCE.h"

int RCCE_APP(int argc, char** argv) {
  static char line[32];
  t_vcharp place;
  RCCE_init(&argc, &argv);
  place = RCCE_malloc(32);
  RCCE_put(place, (t_vcharp)line, 32, 0);
  RCCE_finalize();
  return 0;
}

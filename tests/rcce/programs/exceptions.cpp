// SPDX-License-Identifier: Apache-2.0
// UE 1 ends by an exception, which the first argument names, while the others ask again and again
// for a message that will not come: by tests of a request, or, with a second argument, by pushes.
#include <stdexcept>
#include <string>

#include "iRCCE.h"

int RCCE_APP(int argc, char** argv) {
  RCCE_init(&argc, &argv);
  const std::string what = argc > 1 ? argv[1] : "";
  const int me = RCCE_ue();
  if (me == 1 && what == "standard") throw std::runtime_error("boom");
  if (me == 1 && what == "other") throw 42;
  char byte = 0;
  iRCCE_RECV_REQUEST request;
  iRCCE_irecv(&byte, 1, 1, &request);
  for (int done = 0; done == 0;) {
    if (argc > 2) {
      done = iRCCE_irecv_push() == iRCCE_SUCCESS ? 1 : 0;
    } else {
      iRCCE_irecv_test(&request, &done);
    }
    creek_charge(100);
  }
  return 0;
}

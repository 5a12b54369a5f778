/* SPDX-License-Identifier: Apache-2.0 */
/* iRCCE's inner header, as far as programs use it. */
#ifndef IRCCE_LIB_H
#define IRCCE_LIB_H

#include "RCCE_lib.h"
#include "iRCCE.h"

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* RCCE's inner header, as far as programs use it. */
#ifndef RCCE_LIB_H
#define RCCE_LIB_H

#include "RCCE.h"

#ifdef __cplusplus
extern "C" {
#endif

int id_compare(const void* a, const void* b); /* compares two int, for RCCE_qsort */
void RCCE_qsort(char* items, size_t count, size_t size, int (*compare)(const void*, const void*));
void print_dividers(void); /* prints those of all tiles to standard output */

#ifdef __cplusplus
}
#endif

#endif

// SPDX-License-Identifier: Apache-2.0
// The functions of the BLACS that this library calls.
#pragma once

extern "C" {
void blacs_gridinfo_(const int* context, int* rows, int* cols, int* row, int* col);
void blacs_get_(const int* context, const int* what, int* value);
}

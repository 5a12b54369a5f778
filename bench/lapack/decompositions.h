// SPDX-License-Identifier: Apache-2.0
// Calls of eigenvalue and singular value decompositions: the parts of their workloads.
#pragma once
#include "routines.h"

double symmetric_operations(int64_t m, int64_t n);
void make_symmetric(struct problem* p);
int64_t call_syevd(struct problem* p);
double residual_of_symmetric(const struct problem* p);

double general_operations(int64_t m, int64_t n);
void make_general(struct problem* p);
int64_t call_geev(struct problem* p);
double residual_of_general(const struct problem* p);

double singular_operations(int64_t m, int64_t n);
int64_t call_gesdd(struct problem* p);
double residual_of_singular(const struct problem* p);

double gelsd_operations(int64_t m, int64_t n);
void make_gelsd(struct problem* p);
int64_t call_gelsd(struct problem* p);
double residual_of_gelsd(const struct problem* p);

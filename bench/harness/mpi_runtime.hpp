// SPDX-License-Identifier: Apache-2.0
// How the MPI peer enters its runtime: every rank is a process that runs the same main(), and the
// first of them prints.
#pragma once
#include <mpi.h>

#include "workload.hpp"

namespace bench {

/// This process's rank, of which there are as many as the workload has workers, or two. Joins the
/// others at the first call.
int rank();

}  // namespace bench

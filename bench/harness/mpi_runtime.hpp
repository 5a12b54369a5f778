// SPDX-License-Identifier: Apache-2.0
// Enters the runtime of the MPI peer: every rank is a process that runs the same main(), and the
// first of them prints.
#pragma once
#include <mpi.h>

#include "workload.hpp"

namespace bench {

/// Returns this process's rank; there are as many ranks as the workload has workers, or two. The
/// first call joins the others.
int rank();

}  // namespace bench

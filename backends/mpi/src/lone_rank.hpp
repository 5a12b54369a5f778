// SPDX-License-Identifier: Apache-2.0
// The calls of a process that no launcher started: one rank, without MPI.
#pragma once

#include <creek/mpi/calls.hpp>

namespace creek::mpi_backend {

extern const calls lone_rank;

}  // namespace creek::mpi_backend

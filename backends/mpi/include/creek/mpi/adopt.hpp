// SPDX-License-Identifier: Apache-2.0
// creek's communicator in a program that uses MPI itself. Include it after or before <mpi.h>, which
// it includes.
#pragma once

#include <mpi.h>

#include <creek/mpi.hpp>

namespace creek {

/// Returns a communicator of creek over the ranks of `comm`, which the program has initialised and
/// will end, after this object. Every rank of it calls this. Messages of the two do not meet.
[[nodiscard]] inline mpi_communicator adopt(MPI_Comm comm) {
#if defined(OPEN_MPI)
  return mpi_communicator(mpi_backend::load("openmpi"), &comm);
#elif defined(MPICH_VERSION)
  return mpi_communicator(mpi_backend::load("mpich"), &comm);
#else
#error "creek: this <mpi.h> is neither Open MPI's nor MPICH's"
#endif
}

}  // namespace creek

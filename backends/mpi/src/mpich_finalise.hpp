// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace creek::mpi_backend {

/// MPI_Finalize for ranks that have received all that was sent to them, as after a barrier.
[[nodiscard]] int finalise_mpich();

}  // namespace creek::mpi_backend

// SPDX-License-Identifier: Apache-2.0
// The launcher of this process, as far as its environment variables tell.
#pragma once

#include <string_view>

namespace creek::mpi_backend {

struct launched_rank {
  int rank = 0, ranks = 1;
};
/// Returns which of how many ranks the launcher calls this process. Around mpirun there may be an
/// srun, which has started one task on each machine: mpirun goes before.
[[nodiscard]] launched_rank launched_as() noexcept;

/// Returns whether something started this process as one of several that may find each other by
/// MPI. Tasks of `srun --mpi=none` may not.
[[nodiscard]] bool is_launched() noexcept;

/// Returns the implementation ("openmpi", "mpich") that srun's option --mpi fits, or an empty name
/// if this process is none of several tasks of srun.
[[nodiscard]] std::string_view mpi_of_srun() noexcept;

}  // namespace creek::mpi_backend

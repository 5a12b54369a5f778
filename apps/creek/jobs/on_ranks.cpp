// SPDX-License-Identifier: Apache-2.0
// Commands on the ranks of an MPI run.
#include <creek/mpi.hpp>

#include "rank_group.hpp"

namespace creek::tool {

int on_ranks_of_mpi(function_ref<void(rank_group*)> command) {
  (void)mpi_backend::load();
  return ranks([&](mpi_communicator& c) {
    any_communicator_of<mpi_communicator> all(c);
    command(&all);
  });
}

}  // namespace creek::tool

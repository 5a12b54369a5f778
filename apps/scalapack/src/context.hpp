// SPDX-License-Identifier: Apache-2.0
// The processes of a BLACS context as creek's ranks.
#pragma once

#include <creek/mpi/adopt.hpp>

#include <creek/linalg/grid_matrix.hpp>

namespace creek::scalapack {

/// Belongs to the communicator of the BLACS context, which destroys it when the context ends.
class context {
 public:
  /// Returns that of a BLACS context, or null if this process has no place in it. The first call
  /// makes it, with a communicator of creek's: every process of the context calls it.
  [[nodiscard]] static context* find(int blacs_context);

  [[nodiscard]] const linalg::process_grid& grid() const noexcept { return grid_; }
  [[nodiscard]] mpi_communicator& ranks() noexcept { return ranks_; }

 private:
  context(MPI_Comm comm, const linalg::process_grid& grid) : grid_(grid), ranks_(adopt(comm)) {}

  linalg::process_grid grid_;
  mpi_communicator ranks_;
};

}  // namespace creek::scalapack

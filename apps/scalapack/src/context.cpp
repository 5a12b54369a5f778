// SPDX-License-Identifier: Apache-2.0
#include "context.hpp"

#include <cerrno>

#include <creek/core/error.hpp>

#include "blacs.hpp"

namespace creek::scalapack {
namespace {

int destroy(MPI_Comm, int, void* attribute, void*) {
  delete static_cast<context*>(attribute);
  return MPI_SUCCESS;
}

/// The attribute of communicators that holds a context.
int key() {
  static const int made = [] {
    int key = MPI_KEYVAL_INVALID;
    if (MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &destroy, &key, nullptr) != MPI_SUCCESS) {
      throw error(EIO, "MPI has no room for an attribute");
    }
    return key;
  }();
  return made;
}

}  // namespace

context* context::find(int blacs_context) {
  linalg::process_grid grid{-1, -1, -1, -1};
  blacs_gridinfo_(&blacs_context, &grid.rows, &grid.cols, &grid.row, &grid.col);
  if (grid.row < 0 || grid.col < 0) return nullptr;
  constexpr int communicator_of_context = 10;
  int handle = 0;
  blacs_get_(&blacs_context, &communicator_of_context, &handle);
  const MPI_Comm comm = MPI_Comm_f2c(handle);
  void* found = nullptr;
  int has = 0;
  MPI_Comm_get_attr(comm, key(), &found, &has);
  if (has != 0) return static_cast<context*>(found);
  // The BLACS number the processes of a context by rows, as process_grid does.
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  if (rank != grid.rank_at(grid.row, grid.col)) {
    throw error(EPROTO, "the BLACS does not number the processes of a context by rows");
  }
  context* const made = new context(comm, grid);
  MPI_Comm_set_attr(comm, key(), made);
  return made;
}

}  // namespace creek::scalapack

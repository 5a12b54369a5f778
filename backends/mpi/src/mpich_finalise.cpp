// SPDX-License-Identifier: Apache-2.0
// MPI_Finalize of MPICH 4.0 and 4.1 over UCX and TCP may wait for ever: a rank closes its
// connections, which takes an answer of the peer (UCX 1.12), while the peer answers no more since
// it is in a barrier of the launcher already. MPICH 4.2 has no such barrier (pull request 6596).
#include "mpich_finalise.hpp"

#include <dlfcn.h>
#include <mpi.h>

namespace creek::mpi_backend {
namespace {

bool has_received_all = false;

}  // namespace

int finalise_mpich() {
  has_received_all = true;
  const int code = MPI_Finalize();
  has_received_all = false;
  return code;
}

}  // namespace creek::mpi_backend

/// Stands before the function of UCX by this name in the calls of MPICH, which this module loads:
/// begins to close a connection and returns a request, or null once it is closed. In
/// finalise_mpich() there is nothing to wait for; MPICH destroys the connections afterwards.
extern "C" [[gnu::visibility("default")]] void* ucp_disconnect_nb(void* endpoint) {
  if (creek::mpi_backend::has_received_all) return nullptr;
  using disconnect = void*(void*);
  static const auto of_ucx = reinterpret_cast<disconnect*>(dlsym(RTLD_NEXT, "ucp_disconnect_nb"));
  return of_ucx(endpoint);
}

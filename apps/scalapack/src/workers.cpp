// SPDX-License-Identifier: Apache-2.0
#include "workers.hpp"

#include <mpi.h>

#include <algorithm>
#include <memory>
#include <utility>

#include <creek/core/threads/signals_blocked.hpp>
#include <creek/host.hpp>
#include <creek/host/cpu_limit.hpp>

namespace creek::scalapack {
namespace {

/// Operations of one process for which workers pay off: a millisecond of a core. An estimate.
constexpr double worth_workers = 5e7;

/// The runtime of this process, once there is one. It is never destroyed, because programs may call
/// until they end. Calls come from one thread at a time.
constinit runtime* current = nullptr;

/// Returns the number of workers if CREEK_WORKERS does not say it. The processes of a smaller
/// context than the program do not know what the others use: one worker each.
unsigned own_processors(const mpi_communicator& ranks) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (ranks.size() != size) return 1;
  return std::min(static_cast<unsigned>(ranks.processors()),
                  host_backend::read_cpu_limit().workers);
}

}  // namespace

linalg::grid_options workers_for(const call& of, double operations) {
  const mpi_communicator& ranks = of.ranks();
  if (operations < worth_workers * ranks.size()) return {};
  if (current == nullptr) {
    scheduler_options options = scheduler_options::from_environment();
    if (options.workers == 0) options.workers = own_processors(ranks);
    if (options.workers == 1) return {};
    options.name = "scalapack";
    const signals_blocked meanwhile;
    current = std::make_unique<runtime>(host(std::move(options))).release();
  }
  return {current};
}

unsigned worker_count() noexcept {
  return current == nullptr ? 0 : current->worker_count();
}

}  // namespace creek::scalapack

// SPDX-License-Identifier: Apache-2.0
// MPI_Barrier of all ranks.
#include "config.hpp"
#include "harness/mpi_runtime.hpp"

namespace bench::group_step {
namespace {

sample measure(const settings& s) {
  counter mine;
  const auto step = [&] {
    mine.add();
    MPI_Barrier(MPI_COMM_WORLD);
  };
  sample result;
  if (rank() == 0) {
    result = median_of_parts(s.n, step);
  } else {
    for (std::int64_t i = 0; i < repeats(s.n); ++i) step();
  }
  std::vector<std::uint64_t> steps(s.workers);
  MPI_Gather(&mine.calls, 1, MPI_UINT64_T, steps.data(), 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  result.answer = agreed(steps);
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::group_step

// SPDX-License-Identifier: Apache-2.0
// Messages of one word to another process, which counts them and answers the last one.
#include "config.hpp"
#include "harness/mpi_runtime.hpp"

namespace bench::invoke_post {
namespace {

sample measure(const settings& s) {
  std::uint64_t word = 0;
  if (rank() == 0) {
    sample result = run(
        s, [&] { MPI_Send(&word, 1, MPI_UINT64_T, 1, 0, MPI_COMM_WORLD); },
        [&] { MPI_Recv(&word, 1, MPI_UINT64_T, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); });
    result.answer = word;
    return result;
  }
  counter object;
  for (std::int64_t i = 0; i < s.n; ++i) {
    MPI_Recv(&word, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    object.add();
  }
  word = object.get();
  MPI_Send(&word, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD);
  return {};
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::invoke_post

// SPDX-License-Identifier: Apache-2.0
// A message to another process, which counts, and one back; MPI polls for both.
#include "config.hpp"
#include "harness/mpi_runtime.hpp"

namespace bench::invoke_round_trip {
namespace {

/// Message: the word stands for the call's one argument. The last trip brings the count.
std::uint64_t word = 0;

void send(int to) {
  MPI_Send(&word, 1, MPI_UINT64_T, to, 0, MPI_COMM_WORLD);
}
void receive(int from) {
  MPI_Recv(&word, 1, MPI_UINT64_T, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

sample measure(const settings& s) {
  if (rank() == 0) {
    sample result = run(s, [] {
      send(1);
      receive(1);
    });
    result.answer = word;
    return result;
  }
  counter object;
  for (std::int64_t i = 0; i < repeats(s.n); ++i) {
    receive(0);
    object.add();
    word = object.get();
    send(0);
  }
  return {};
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::invoke_round_trip

// SPDX-License-Identifier: Apache-2.0
// A program that uses MPI itself, and creek over the same ranks: messages of the two do not meet,
// and creek neither initialises nor ends MPI.
#include <creek/mpi/adopt.hpp>

#include <cstdio>
#include <functional>
#include <span>

#define EXPECT(what)                                              \
  do {                                                            \
    if (!(what)) {                                                \
      std::fprintf(stderr, "line %d: not %s\n", __LINE__, #what); \
      MPI_Abort(MPI_COMM_WORLD, 1);                               \
    }                                                             \
  } while (false)

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  {
    creek::mpi_communicator c = creek::adopt(MPI_COMM_WORLD);
    EXPECT(c.rank() == rank && c.size() == size);
    // The program's message has a tag that creek uses, too, and comes first.
    int own = 100 + rank, got_own = 0, got = 0;
    MPI_Request sent;
    MPI_Isend(&own, 1, MPI_INT, next, 1, MPI_COMM_WORLD, &sent);
    const int mine = rank;
    c.exchange(std::span(&mine, 1), next, std::span(&got, 1), previous);
    EXPECT(got == previous);
    MPI_Recv(&got_own, 1, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    EXPECT(got_own == 100 + previous);
  }
  const int code = creek::ranks(argc, argv, [&](creek::mpi_communicator& all) {
    EXPECT(all.allreduce(1, std::plus{}) == size);
  });
  EXPECT(code == 0);
  int over = 0;
  MPI_Finalized(&over);
  EXPECT(over == 0);
  MPI_Finalize();
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Messages between two ranks through creek's communicator and through the MPI below it, in turns in
// one process: half of the time for a message and its answer. Then the processor time that a rank
// takes while it waits. To be started on two ranks by the launcher of the MPI.
#include <sys/resource.h>
#include <creek/mpi/adopt.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "../../support/median.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

/// Returns half the time of a message and its answer, in microseconds.
template <class Send, class Receive>
double half_round_trip(int rank, int repeats, Send&& send, Receive&& receive) {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto begin = clock_type::now();
  for (int i = 0; i < repeats; ++i) {
    if (rank == 0) send();
    receive();
    if (rank != 0) send();
  }
  const std::chrono::duration<double, std::micro> spent = clock_type::now() - begin;
  return spent.count() / repeats / 2;
}

void compare_messages(creek::mpi_communicator& c, std::size_t bytes, int rounds) {
  std::vector<char> data(bytes, 'x');
  const int other = 1 - c.rank(), repeats = bytes < 100'000 ? 2000 : 200;
  std::vector<double> bare, ours, ratios;
  for (int i = 0; i < rounds; ++i) {
    bare.push_back(half_round_trip(
        c.rank(), repeats,
        [&] { MPI_Send(data.data(), static_cast<int>(bytes), MPI_CHAR, other, 1, MPI_COMM_WORLD); },
        [&] {
          MPI_Recv(data.data(), static_cast<int>(bytes), MPI_CHAR, other, 1, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
        }));
    ours.push_back(half_round_trip(
        c.rank(), repeats, [&] { c.send(std::span<const char>(data), other); },
        [&] { c.recv(std::span(data), other); }));
    ratios.push_back(ours.back() / bare.back());
  }
  if (c.rank() == 0) {
    std::printf("%10zu %10.2f %10.2f %10.2f\n", bytes, bench::median(bare), bench::median(ours),
                bench::median(ratios));
  }
}

double processor_milliseconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto of = [](const timeval& t) {
    return 1e3 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_usec);
  };
  return of(used.ru_utime) + of(used.ru_stime);
}

void wait_for_a_message(creek::mpi_communicator& c, int seconds) {
  c.barrier();
  if (c.rank() == 0) {
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    return c.send(1, 1);
  }
  const double before = processor_milliseconds();
  (void)c.recv<int>(0);
  std::printf("processor time of a rank that waits for %d s: %.1f ms\n", seconds,
              processor_milliseconds() - before);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 9;
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int code = 0;
  if (size != 2 || rounds < 1) {
    std::fprintf(stderr, "usage: mpirun -n 2 %s [ROUNDS]\n", argv[0]);
    code = 2;
  } else {
    creek::mpi_communicator c = creek::adopt(MPI_COMM_WORLD);
    if (c.rank() == 0) {
      std::printf("half round trip in microseconds, medians of %d rounds\n", rounds);
      std::printf("%10s %10s %10s %10s\n", "bytes", "bare MPI", "creek", "ratio");
    }
    for (const std::size_t bytes : {1, 64, 1024, 8192, 32768, 262'144, 1'048'576}) {
      compare_messages(c, bytes, rounds);
    }
    wait_for_a_message(c, 3);
  }
  MPI_Finalize();
  return code;
}

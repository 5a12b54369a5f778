// SPDX-License-Identifier: Apache-2.0
// Calls of an object on another rank beside messages of the MPI below, in turns in one process:
// half of the time of a call whose argument and result have so many bytes, and half of that of a
// message of these bytes and its answer. Then calls of an object on a worker of that rank beside
// those of one in its own thread. To be started on two ranks by the launcher of the MPI.
#include <creek/mpi/adopt.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include <creek/core/objects/object_space.hpp>
#include <creek/host.hpp>
#include <creek/tasking/worker_objects.hpp>

#include "../../support/median.hpp"

namespace {

using clock_type = std::chrono::steady_clock;
using bytes = std::vector<char>;

struct echo {
  long calls = 0;
  long count(long by) { return calls += by; }
  bytes answer(bytes given) {
    ++calls;
    return given;
  }
};

double microseconds_per_half(clock_type::time_point begin, int repeats) {
  const std::chrono::duration<double, std::micro> spent = clock_type::now() - begin;
  return spent.count() / repeats / 2;
}

/// Returns half the time of a message and its answer, in microseconds.
double messages(int rank, int repeats, bytes& data) {
  const int other = 1 - rank, size = static_cast<int>(data.size());
  const auto send = [&] { MPI_Send(data.data(), size, MPI_CHAR, other, 1, MPI_COMM_WORLD); };
  MPI_Barrier(MPI_COMM_WORLD);
  const auto begin = clock_type::now();
  for (int i = 0; i < repeats; ++i) {
    if (rank == 0) send();
    MPI_Recv(data.data(), size, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0) send();
  }
  return microseconds_per_half(begin, repeats);
}

/// Returns half the time of a call that rank 0 makes, in microseconds.
template <class Call>
double calls(creek::object_space& space, int repeats, Call&& call) {
  space.barrier();
  const auto begin = clock_type::now();
  if (space.rank() == 0) {
    for (int i = 0; i < repeats; ++i) call();
  }
  const double half = microseconds_per_half(begin, repeats);
  space.barrier();
  return half;
}

void require(bool holds) {
  if (!holds) throw std::logic_error("a call gave a wrong result");
}

void compare(creek::object_space& space, std::size_t size, int rounds) {
  const int repeats = size < 100'000 ? 2000 : 200;
  bytes data(size, 'x');
  const bytes sent = data;
  creek::global_ref<echo> there;
  if (space.rank() == 0) there = space.make_on<echo>(1);
  space.barrier();
  std::vector<double> bare, ours, ratios;
  for (int i = 0; i < rounds; ++i) {
    bare.push_back(messages(space.rank(), repeats, data));
    if (size == sizeof(long)) {
      ours.push_back(calls(space, repeats, [&] { (void)there.call<&echo::count>(1); }));
    } else {
      ours.push_back(calls(space, repeats, [&] { data = there.call<&echo::answer>(sent); }));
    }
    ratios.push_back(ours.back() / bare.back());
  }
  if (space.rank() != 0) return;
  require(there.call<&echo::count>(0) == static_cast<long>(rounds) * repeats && data == sent);
  std::printf("%10zu %10.2f %10.2f %10.2f\n", size, bench::median(bare), bench::median(ours),
              bench::median(ratios));
}

/// Calls that wait, then as many that do not, until the last has ended.
void compare_workers(creek::object_space& space, int rounds) {
  constexpr int repeats = 2000;
  std::vector<double> own[2], worker[2], ratios[2];
  creek::global_ref<echo> in_thread, on_worker;
  if (space.rank() == 0) {
    in_thread = space.make_on<echo>(1);
    on_worker = space.make_on<echo>({1, 0});
  }
  const auto measure = [&](const creek::global_ref<echo>& there, int kind) {
    if (kind == 0) return 2 * calls(space, repeats, [&] { (void)there.call<&echo::count>(1); });
    std::vector<creek::async_result<long>> begun;
    return 2 * calls(space, repeats, [&] {
             begun.push_back(there.async<&echo::count>(1));
             if (begun.size() < repeats) return;
             for (auto& each : begun) (void)each.get();
           });
  };
  for (int i = 0; i < rounds; ++i) {
    for (const int kind : {0, 1}) {
      own[kind].push_back(measure(in_thread, kind));
      worker[kind].push_back(measure(on_worker, kind));
      ratios[kind].push_back(worker[kind].back() / own[kind].back());
    }
  }
  if (space.rank() != 0) return;
  const long expected = 2l * rounds * repeats;
  require(on_worker.call<&echo::count>(0) == expected &&
          in_thread.call<&echo::count>(0) == expected);
  std::printf("microseconds per call of 8 bytes and its answer\n");
  std::printf("%10s %10s %10s %10s\n", "", "in thread", "on worker", "ratio");
  for (const int kind : {0, 1}) {
    std::printf("%10s %10.2f %10.2f %10.2f\n", kind == 0 ? "call" : "async",
                bench::median(own[kind]), bench::median(worker[kind]), bench::median(ratios[kind]));
  }
}

void compare_all(int rounds) {
  creek::mpi_communicator c = creek::adopt(MPI_COMM_WORLD);
  creek::runtime worker{creek::host{1}};
  creek::object_space space(c);
  creek::use_workers(space, worker);
  if (c.rank() == 0) {
    std::printf("half round trip in microseconds, medians of %d rounds\n", rounds);
    std::printf("%10s %10s %10s %10s\n", "bytes", "bare MPI", "call", "ratio");
  }
  for (const std::size_t size : {8, 64, 1024, 8192, 32'768, 65'536, 262'144, 1'048'576}) {
    compare(space, size, rounds);
  }
  compare_workers(space, rounds);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 9;
  int size = 0, code = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2 || rounds < 1) {
    std::fprintf(stderr, "usage: mpirun -n 2 %s [ROUNDS]\n", argv[0]);
    code = 2;
  } else {
    compare_all(rounds);
  }
  MPI_Finalize();
  return code;
}

// SPDX-License-Identifier: Apache-2.0
#include "routine.hpp"

#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <creek/mpi/process.hpp>

#include "workers.hpp"

namespace creek::scalapack {
namespace {

/// CREEK_SCALAPACK when the library was loaded.
enum class setting { off, on, verbose };
constinit setting chosen = setting::on;
constinit routine* called = nullptr;
constinit int depth = 0;
/// This process's number, once a routine was called.
constinit int rank = -1;

std::int64_t now() noexcept {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds{1};
}

[[gnu::constructor]] void begin() {
  const char* const given = std::getenv("CREEK_SCALAPACK");
  const std::string_view wanted = given == nullptr ? "" : given;
  if (wanted == "0") {
    chosen = setting::off;
  } else if (wanted == "verbose") {
    chosen = setting::verbose;
  } else if (!wanted.empty() && wanted != "1") {
    std::fprintf(stderr, "creek: CREEK_SCALAPACK=%s is ignored: valid are 0, 1 and verbose\n",
                 given);
  }
}

[[gnu::destructor]] void end() {
  if (chosen != setting::verbose || rank != 0) return;
  std::fprintf(stderr,
               "creek scalapack: calls at rank 0, which has %u workers\n  %-12s %10s %10s %12s\n",
               worker_count(), "routine", "calls", "by creek", "seconds");
  for (const routine* each = called; each != nullptr; each = each->listed) {
    std::fprintf(stderr, "  %-12s %10llu %10llu %12.3f\n", each->name,
                 static_cast<unsigned long long>(each->calls),
                 static_cast<unsigned long long>(each->served), each->seconds);
  }
}

}  // namespace

noted_call::noted_call(routine& of) noexcept : of_(&of), began_(now()) {
  int is_up = 0;
  MPI_Initialized(&is_up);
  if (rank < 0 && is_up != 0) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (of.is_listed) return;
  of.is_listed = true;
  of.listed = called;
  called = &of;
}
noted_call::~noted_call() {
  ++of_->calls;
  of_->seconds += 1e-9 * static_cast<double>(now() - began_);
}

bool may_serve() noexcept {
  return depth == 0 && chosen != setting::off;
}
inside_scalapack::inside_scalapack() noexcept {
  ++depth;
}
inside_scalapack::~inside_scalapack() {
  --depth;
}

void* next_function(routine& of) noexcept {
  if (of.next == nullptr) of.next = dlsym(RTLD_NEXT, of.name);
  if (of.next == nullptr) end_all(of, "ScaLAPACK is not in this program: link it after creek's");
  return of.next;
}

void end_all(const routine& of, const char* why) noexcept {
  mpi_backend::write_last_line("creek: rank " + std::to_string(rank) + ": " + of.name + ": " + why +
                               "\n");
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1);
}

}  // namespace creek::scalapack

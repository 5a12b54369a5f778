// SPDX-License-Identifier: Apache-2.0
// The time that all ranks need for something.
#pragma once

#include <chrono>

#include <creek/mpi.hpp>

namespace bench {

/// Calls f on all ranks; returns the seconds until the last one has ended it.
template <class F>
double timed(creek::mpi_communicator& all, F f) {
  all.barrier();
  const auto begin = std::chrono::steady_clock::now();
  f();
  all.barrier();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace bench

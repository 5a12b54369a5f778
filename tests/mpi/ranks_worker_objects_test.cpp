// SPDX-License-Identifier: Apache-2.0
// Objects on workers of MPI ranks.
#include <gtest/gtest.h>

#include "mpi/ranks.hpp"
#include "tasking/worker_objects_cases.hpp"

namespace creek {
namespace {

TEST_F(MpiRanks, CallObjectsOnWorkers) {
  worker_objects_cases::run_all(c);
}

}  // namespace
}  // namespace creek

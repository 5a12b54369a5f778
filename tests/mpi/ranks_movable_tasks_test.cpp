// SPDX-License-Identifier: Apache-2.0
// Tasks that move between MPI ranks.
#include <gtest/gtest.h>

#include "mpi/ranks.hpp"
#include "tasking/movable_tasks_cases.hpp"

namespace creek {
namespace {

TEST_F(MpiRanks, MoveTasks) {
  movable_tasks_cases::run_all(c);
}

}  // namespace
}  // namespace creek

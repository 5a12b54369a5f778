// SPDX-License-Identifier: Apache-2.0
// Tests that each rank of an MPI run runs; main() is in ranks_test.cpp.
#pragma once

#include <gtest/gtest.h>

#include <creek/mpi.hpp>

namespace creek {

inline mpi_communicator* all_ranks = nullptr;

class MpiRanks : public testing::Test {
 protected:
  /// A failed test of one rank must not leave messages to the next.
  void TearDown() override { c.barrier(); }
  [[nodiscard]] int next() const { return (c.rank() + 1) % c.size(); }
  [[nodiscard]] int previous() const { return (c.rank() + c.size() - 1) % c.size(); }

  mpi_communicator& c = *all_ranks;
};

}  // namespace creek

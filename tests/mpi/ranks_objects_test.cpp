// SPDX-License-Identifier: Apache-2.0
// Objects on MPI ranks.
#include <gtest/gtest.h>

#include "core/object_space_cases.hpp"
#include "mpi/ranks.hpp"

namespace creek {
namespace {

TEST_F(MpiRanks, CallObjects) {
  object_space_cases::run_all(c);
}

/// Messages of an object space, of the program and of a part do not meet.
TEST_F(MpiRanks, CallObjectsBesideOtherMessages) {
  mpi_communicator half(c, c.rank() % 2);
  {
    object_space space(c);
    const auto all = space.make_on_all<object_space_cases::account>("all", 1l);
    c.post(c.rank(), next());
    all.post_all<&object_space_cases::charge>(1);
    EXPECT_EQ(c.take<int>(previous()), previous());
    EXPECT_EQ(half.allreduce(1, [](int a, int b) { return a + b; }), half.size());
    space.barrier();
    EXPECT_EQ(all[next()].call<&object_space_cases::account::balance>(), 0);
  }
  object_space space(half);
  object_space_cases::calls_objects(space);
}

}  // namespace
}  // namespace creek

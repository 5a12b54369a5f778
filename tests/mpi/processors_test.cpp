// SPDX-License-Identifier: Apache-2.0
// How ranks of a machine share its processors.
#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include <creek/mpi/process.hpp>

namespace creek::mpi_backend {
namespace {

cpu_set_t cpus(std::initializer_list<int> numbers) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int each : numbers) CPU_SET(each, &set);
  return set;
}

TEST(MpiProcessors, BelongToARankThatIsBoundToThem) {
  const std::vector<cpu_set_t> allowed{cpus({0, 1}), cpus({2, 3, 4})};
  EXPECT_EQ(share_of_processors(allowed, 0), 2);
  EXPECT_EQ(share_of_processors(allowed, 1), 3);
}

TEST(MpiProcessors, AreSharedByAllThatMayUseThem) {
  const cpu_set_t machine = cpus({8, 9, 10, 11, 12, 13});  // as in a container
  for (int ranks = 1; ranks < 9; ++ranks) {
    const std::vector<cpu_set_t> allowed(static_cast<std::size_t>(ranks), machine);
    EXPECT_EQ(share_of_processors(allowed, ranks - 1), ranks > 6 ? 1 : 6 / ranks);
  }
}

TEST(MpiProcessors, AreSharedWithinASocket) {
  const cpu_set_t first = cpus({0, 1, 2, 3}), second = cpus({4, 5, 6, 7});
  const std::vector<cpu_set_t> allowed{first, first, second};
  EXPECT_EQ(share_of_processors(allowed, 1), 2);
  EXPECT_EQ(share_of_processors(allowed, 2), 4);
}

TEST(MpiProcessors, OfARankWithoutAnyAreOne) {
  const std::vector<cpu_set_t> allowed{cpus({}), cpus({0})};
  EXPECT_EQ(share_of_processors(allowed, 0), 1);
}

}  // namespace
}  // namespace creek::mpi_backend

// SPDX-License-Identifier: Apache-2.0
// How ranks of a machine share its processors.
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

#include <creek/mpi/process.hpp>
#include <creek/mpi/processors.hpp>

namespace creek::mpi_backend {
namespace {

allowed_processors cpus(std::initializer_list<int> numbers) {
  allowed_processors made{};
  CPU_ZERO(&made.mask);
  for (const int each : numbers) CPU_SET(each, &made.mask);
  return made;
}

allowed_processors in_group(std::uint64_t group, double quota) {
  allowed_processors made = cpus({0, 1, 2, 3, 4, 5, 6, 7});
  made.quota = quota;
  made.group_number = group;
  return made;
}

TEST(MpiProcessors, BelongToARankThatIsBoundToThem) {
  const std::vector<allowed_processors> here{cpus({0, 1}), cpus({2, 3, 4})};
  EXPECT_EQ(share_of_processors(here, 0), 2);
  EXPECT_EQ(share_of_processors(here, 1), 3);
}

TEST(MpiProcessors, AreSharedByAllThatMayUseThem) {
  const allowed_processors machine = cpus({8, 9, 10, 11, 12, 13});  // as in a container
  for (int ranks = 1; ranks < 9; ++ranks) {
    const std::vector<allowed_processors> here(static_cast<std::size_t>(ranks), machine);
    EXPECT_NEAR(share_of_processors(here, ranks - 1), 6.0 / ranks, 1e-6);
  }
}

TEST(MpiProcessors, AreSharedWithinASocket) {
  const allowed_processors first = cpus({0, 1, 2, 3}), second = cpus({4, 5, 6, 7});
  const std::vector<allowed_processors> here{first, first, second};
  EXPECT_EQ(share_of_processors(here, 1), 2);
  EXPECT_EQ(share_of_processors(here, 2), 4);
}

TEST(MpiProcessors, ThatThreeRanksShareAreWhole) {
  const std::vector<allowed_processors> here(3, cpus({0, 1, 2}));
  EXPECT_EQ(share_of_processors(here, 0), 1);
}

TEST(MpiProcessors, OfARankWithoutAnyAreNone) {
  const std::vector<allowed_processors> here{cpus({}), cpus({0})};
  EXPECT_EQ(share_of_processors(here, 0), 0);
}

TEST(MpiProcessors, AreLimitedByTheQuotaOfTheGroup) {
  EXPECT_EQ(in_group(7, 3).alone(), 3);
  EXPECT_EQ(in_group(7, 20).alone(), 8);
  EXPECT_EQ(in_group(7, 0).alone(), 8);
}

TEST(MpiProcessors, OfAQuotaAreSharedByTheRanksOfItsGroup) {
  const std::vector<allowed_processors> here{in_group(7, 3), in_group(7, 3), in_group(8, 1)};
  EXPECT_EQ(share_of_processors(here, 0), 1.5);
  EXPECT_EQ(share_of_processors(here, 1), 1.5);
  EXPECT_EQ(share_of_processors(here, 2), 1);
}

TEST(MpiProcessors, OfAFractionAreShared) {
  const std::vector<allowed_processors> here(2, in_group(7, 1.5));
  EXPECT_EQ(share_of_processors(here, 0), 0.75);
}

TEST(MpiProcessors, WithoutAQuotaAreNoPartOfOne) {
  // Both groups have the number 0 here.
  const std::vector<allowed_processors> here{in_group(0, 0), in_group(0, 2)};
  EXPECT_EQ(share_of_processors(here, 0), 4);
  EXPECT_EQ(share_of_processors(here, 1), 2);
}

TEST(MpiProcessors, ThatAreLessThanOneMakePollingShort) {
  EXPECT_LT(spin_time(0.5), spin_time(1));
  EXPECT_EQ(spin_time(0), spin_time(1));  // it is not known how many
}

}  // namespace
}  // namespace creek::mpi_backend

// SPDX-License-Identifier: Apache-2.0
// Collective operations on host threads, for 1 to 16 ranks and every root.
#include <gtest/gtest.h>

#include <creek/host/spmd.hpp>

#include "collectives_cases.hpp"

namespace {

using namespace creek;
using namespace creek::collectives_cases;
using comm = host_communicator;

class Ranks : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] int ranks() const { return GetParam(); }
};

TEST_P(Ranks, Bcast) {
  spmd(ranks(), [](comm& c) { broadcasts(c); });
}

TEST_P(Ranks, ReduceInRankOrder) {
  spmd(ranks(), [](comm& c) { reduces_in_rank_order(c); });
}

TEST_P(Ranks, AllreduceInRankOrder) {
  spmd(ranks(), [](comm& c) { reduces_for_all_in_rank_order(c); });
}

TEST_P(Ranks, GatherScatterAllgather) {
  spmd(ranks(), [](comm& c) { gathers_and_scatters(c); });
}

TEST_P(Ranks, AllToAll) {
  spmd(ranks(), [](comm& c) { sends_all_to_all(c); });
}

TEST_P(Ranks, AllToAllOfAnyLengths) {
  spmd(ranks(), [](comm& c) { sends_all_to_all_of_any_lengths(c); });
}

TEST_P(Ranks, AllToAllByMove) {
  spmd(ranks(), [](comm& c) { moves_all_to_all(c); });
}

TEST_P(Ranks, ScansInRankOrder) {
  spmd(ranks(), [](comm& c) { scans_in_rank_order(c); });
}

INSTANTIATE_TEST_SUITE_P(Sizes, Ranks, testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 13, 16));

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Barriers over memory that goes stale: every core sees after a barrier what each wrote before
// it, repeatedly.
#include <gtest/gtest.h>

#include <creek/core/protocols/central_barrier.hpp>
#include <creek/core/protocols/dissemination_barrier.hpp>
#include <creek/core/protocols/tournament_barrier.hpp>

#include "stale_memory.hpp"

namespace {

using namespace creek;
using namespace creek::model;

constexpr std::size_t barrier_place = 0;
constexpr std::size_t data_place = 512;

template <class Memory, class MakeBarrier>
outcome cross(int cores, word episodes, exploration how, MakeBarrier make_barrier) {
  return explore_on<Memory>(cores, how, [=](Memory& memory) {
    auto barrier = make_barrier(memory);
    for (word episode = 1; episode <= episodes; ++episode) {
      memory.write(memory.at(memory.self(), data_place), &episode, sizeof episode);
      memory.flush();
      barrier.wait();
      memory.invalidate();
      for (int other = 0; other < memory.cores(); ++other) {
        word seen = 0;
        memory.read(&seen, memory.at(core_id{other}, data_place), sizeof seen);
        expect(seen == episode, "somebody was not there yet, or has gone on");
      }
      barrier.wait();
    }
  });
}

const auto central = [](auto& m) {
  return central_barrier{m, team{m}, barrier_place, counter_id{1}};
};
const auto dissemination = [](auto& m) { return dissemination_barrier{m, team{m}, barrier_place}; };
const auto tournament = [](auto& m) { return tournament_barrier{m, team{m}, barrier_place}; };

template <class MakeBarrier>
void check_barrier(MakeBarrier make_barrier) {
  EXPECT_EQ(cross<stale_memory>(1, 3, {}, make_barrier).failure, "");
  const outcome two = cross<stale_memory>(2, 2, {.preemptions = 3}, make_barrier);
  EXPECT_EQ(two.failure, "");
  EXPECT_TRUE(two.complete);
  const outcome three = cross<stale_memory>(3, 1, {.preemptions = 2}, make_barrier);
  EXPECT_EQ(three.failure, "");
  EXPECT_TRUE(three.complete);
  for (int cores = 4; cores <= 9; ++cores) {
    EXPECT_EQ(cross<stale_memory>(cores, 3, {.random_runs = 300}, make_barrier).failure, "");
  }
}

TEST(BarrierModel, Central) {
  check_barrier(central);
}
TEST(BarrierModel, Dissemination) {
  check_barrier(dissemination);
}
TEST(BarrierModel, Tournament) {
  check_barrier(tournament);
}

TEST(BarrierModel, FindsDataThatWasNotFlushed) {
  EXPECT_NE(cross<memory_that_never_flushes>(2, 2, {}, dissemination).failure, "");
}
TEST(BarrierModel, FindsDataReadFromAStaleCopy) {
  EXPECT_NE(cross<memory_that_never_invalidates>(2, 2, {}, dissemination).failure, "");
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Locks, flags and barriers on host threads, with fewer and with more threads than processors.
#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/core/protocols/central_barrier.hpp>
#include <creek/core/protocols/dissemination_barrier.hpp>
#include <creek/core/protocols/flag.hpp>
#include <creek/core/protocols/mcs_lock.hpp>
#include <creek/core/protocols/test_and_set_lock.hpp>
#include <creek/core/protocols/ticket_lock.hpp>
#include <creek/core/protocols/tournament_barrier.hpp>
#include <creek/host/memory.hpp>
#include <creek/host/spmd.hpp>

namespace {

using namespace creek;
using host_backend::memory;

class ManyCores : public testing::TestWithParam<int> {
 protected:
  // Plain threads over plain memory: these protocols need no communicator.
  template <class F>
  void on_all(F f) {
    host_backend::run_ranks(GetParam(), {}, [&](memory& m) { f(m); });
  }

  template <class MakeLock>
  void check_lock(MakeLock make_lock) {
    constexpr int rounds = 2000;
    long counter = 0;  // plain: if the lock did not order it, ThreadSanitizer would report it
    on_all([&](memory& m) {
      auto lock = make_lock(m);
      for (int round = 0; round < rounds; ++round) {
        const std::lock_guard guard{lock};
        ++counter;
      }
    });
    EXPECT_EQ(counter, long{rounds} * GetParam());
  }

  template <class MakeBarrier>
  void check_barrier(MakeBarrier make_barrier) {
    std::vector<int> at(static_cast<std::size_t>(GetParam()));
    on_all([&](memory& m) {
      auto barrier = make_barrier(m);
      for (int episode = 1; episode <= 500; ++episode) {
        at[m.self().index()] = episode;
        barrier.wait();
        for (const int other : at) ASSERT_EQ(other, episode);
        barrier.wait();
      }
    });
  }
};

TEST_P(ManyCores, TestAndSetLock) {
  check_lock([](memory& m) { return test_and_set_lock{m, core_id{0}}; });
}
TEST_P(ManyCores, TicketLock) {
  check_lock([](memory& m) { return ticket_lock{m, core_id{0}, 64, counter_id{0}}; });
}
TEST_P(ManyCores, McsLock) {
  check_lock([](memory& m) { return mcs_lock{m, core_id{0}, 128}; });
}
TEST_P(ManyCores, CentralBarrier) {
  check_barrier([](memory& m) { return central_barrier{m, team{m}, 0, counter_id{1}}; });
}
TEST_P(ManyCores, DisseminationBarrier) {
  check_barrier([](memory& m) { return dissemination_barrier{m, team{m}, 64}; });
}
TEST_P(ManyCores, TournamentBarrier) {
  check_barrier([](memory& m) { return tournament_barrier{m, team{m}, 128}; });
}
TEST_P(ManyCores, FlagsPassATokenRound) {
  on_all([&](memory& m) {
    flag token{m, 256};
    const core_id next{(m.self().value + 1) % m.cores()};
    for (word round = 1; round <= 200; ++round) {
      if (m.self().value != 0) token.wait(round);
      token.write(next, round);
      if (m.self().value == 0) token.wait(round);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Cores, ManyCores, testing::Values(1, 2, 3, 4, 7, 16));

TEST(Locks, TryLockFailsWhileHeld) {
  host_backend::memory_space space{2};
  memory a = space.core(core_id{0}), b = space.core(core_id{1});
  test_and_set_lock first{a, core_id{1}}, second{b, core_id{1}};
  const std::unique_lock held{first, std::try_to_lock};
  ASSERT_TRUE(held.owns_lock());
  EXPECT_FALSE(second.try_lock());
}

TEST(Barriers, CountOnlyTheirTeam) {
  host_backend::run_ranks(5, {}, [](memory& m) {
    // Uses two teams at once, in an order that differs from their core numbers.
    const bool odd = m.self().value % 2 != 0;
    const team mine{
        odd ? std::vector{core_id{3}, core_id{1}} : std::vector{core_id{4}, core_id{0}, core_id{2}},
        m.self()};
    dissemination_barrier dissemination{m, mine, 0};
    tournament_barrier tournament{m, mine, 64};
    for (int round = 0; round < 100; ++round) {
      dissemination.wait();
      tournament.wait();
    }
  });
  host_backend::memory_space space{2};
  EXPECT_THROW(team({core_id{1}}, core_id{0}), usage_error);
}

TEST(HostMemory, AWaitThatIsAbortedThrows) {
  host_backend::memory_space space{1};
  memory m = space.core(core_id{0});
  const auto word_there = m.at(core_id{0}, 0).as<word>();
  std::jthread aborter{[&] { space.abort(); }};
  EXPECT_THROW(m.wait_until(word_there, [](word w) { return w != 0; }), error);
}

TEST(HostMemory, AWaitWakesFromSleep) {
  host_backend::memory_space space{2};
  memory m = space.core(core_id{0});
  const auto place = m.at(core_id{0}, 0).as<word>();
  // The waits get longer: later ones find the waiter spinning, yielding, asleep.
  for (word round = 1; round <= 12; ++round) {
    std::jthread waker{[&, round] {
      memory other = space.core(core_id{1});
      std::this_thread::sleep_for(std::chrono::microseconds{1u << round});
      other.signal(place, round);
    }};
    EXPECT_EQ(m.wait_until(place, [=](word w) { return w == round; }), round);
  }
}

TEST(HostMemory, NeedsACore) {
  EXPECT_THROW(host_backend::memory_space{0}, usage_error);
}

TEST(HostMemory, KeepsCoresApart) {
  host_backend::memory_space space{3, {.mpm_bytes = 100'000}};
  EXPECT_EQ(space.mpm_bytes(), 100'032u);
  memory m = space.core(core_id{1});
  const auto last = m.at(core_id{1}, space.mpm_bytes() - 4).as<word>();
  m.signal(last, 7);
  EXPECT_EQ(m.load(last), 7u);
  EXPECT_EQ(m.load(m.at(core_id{2}, 0).as<word>()), 0u);
  EXPECT_TRUE(m.test_and_set(core_id{2}));
}

}  // namespace

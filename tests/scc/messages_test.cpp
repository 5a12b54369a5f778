// SPDX-License-Identifier: Apache-2.0
// The unchanged messaging layer of core on the simulated chip: correct answers although nothing is
// coherent, and the same virtual times in every run.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/core/protocols/mcs_lock.hpp>
#include <creek/core/protocols/test_and_set_lock.hpp>
#include <creek/core/protocols/ticket_lock.hpp>
#include <creek/scc/spmd.hpp>

namespace {

using namespace creek;

class on_cores : public ::testing::TestWithParam<int> {};

TEST_P(on_cores, a_ring_passes_messages_of_every_size) {
  const int ranks = GetParam();
  simulate(ranks, [&](scc_communicator& c) {
    for (const std::size_t size : {0, 1, 7, 32, 100, 1000, 5000}) {
      std::vector<std::uint8_t> out(size), in(size);
      std::iota(out.begin(), out.end(), static_cast<std::uint8_t>(c.rank()));
      const int next = (c.rank() + 1) % ranks, before = (c.rank() + ranks - 1) % ranks;
      c.exchange(std::span<const std::uint8_t>{out}, next, std::span{in}, before);
      std::vector<std::uint8_t> expected(size);
      std::iota(expected.begin(), expected.end(), static_cast<std::uint8_t>(before));
      EXPECT_EQ(in, expected) << size;
    }
  });
}

TEST_P(on_cores, collectives_agree_with_arithmetic) {
  const int ranks = GetParam();
  simulate(ranks, [&](scc_communicator& c) {
    EXPECT_EQ(c.allreduce(c.rank() + 1, std::plus{}), ranks * (ranks + 1) / 2);
    EXPECT_EQ(c.bcast(c.rank() == ranks - 1 ? 77 : 0, ranks - 1), 77);
    c.barrier();
    std::vector<int> values(300, c.rank());
    c.allreduce(std::span{values}, [](int a, int b) { return a > b ? a : b; });
    EXPECT_EQ(values, std::vector<int>(300, ranks - 1));
  });
}

TEST_P(on_cores, every_run_takes_the_same_virtual_time) {
  const auto run = [&] {
    return simulate(GetParam(), [](scc_communicator& c) {
      for (int i = 0; i < 5; ++i) {
        c.barrier();
        (void)c.allreduce(i * c.rank(), std::plus{});
      }
    });
  };
  const auto first = run(), second = run();
  EXPECT_EQ(first.ended, second.ended);
  EXPECT_EQ(first.switches, second.switches);
  if (GetParam() > 1) {
    EXPECT_GT(first.length(), virtual_time{});
  }
}

INSTANTIATE_TEST_SUITE_P(scc, on_cores, ::testing::Values(1, 2, 3, 8, 48));

/// Makes every core enter three times; the counter is a block, so each holder must see what the
/// previous one wrote.
template <class MakeLock>
void expect_exclusion(MakeLock make_lock) {
  int last = 0;
  scc_backend::run_cores({}, [&](scc_backend::memory& m) {
    auto lock = make_lock(m);
    const auto counter = m.at(core_id{0}, 1024);
    for (int i = 0; i < 3; ++i) {
      lock.lock();
      int value = 0;
      m.invalidate();
      m.read(&value, counter, sizeof value);
      last = ++value;
      m.write(counter, &value, sizeof value);
      m.flush();
      lock.unlock();
    }
  });
  EXPECT_EQ(last, 48 * 3);
}

TEST(locks_on_scc, test_and_set_excludes_and_publishes) {
  expect_exclusion([](auto& m) { return test_and_set_lock(m, core_id{0}); });
}
TEST(locks_on_scc, ticket_excludes_and_publishes) {
  expect_exclusion([](auto& m) { return ticket_lock(m, core_id{3}, 64, counter_id{1}); });
}

TEST(locks_on_scc, mcs_excludes_and_publishes) {
  expect_exclusion([](auto& m) { return mcs_lock(m, core_id{2}, 128); });
}

TEST(simulate, refuses_more_ranks_than_cores) {
  EXPECT_THROW(simulate(49, [](scc_communicator&) {}), usage_error);
  EXPECT_THROW(simulate(0, [](scc_communicator&) {}), usage_error);
}

TEST(simulate, a_thousand_cores_meet) {
  auto description = scc_backend::chip::with_cores(1024);
  description.mpb_bytes = std::size_t{64} << 10;  // a ring for each peer has to fit
  int met = 0;
  const auto report = simulate(1024,
                               [&](scc_communicator& c) {
                                 c.barrier();
                                 ++met;
                               },
                               {.description = description, .stack_bytes = std::size_t{64} << 10},
                               {.buffer_bytes = 1024});
  EXPECT_EQ(met, 1024);
  EXPECT_EQ(report.ended.size(), static_cast<std::size_t>(description.cores()));
}

}  // namespace

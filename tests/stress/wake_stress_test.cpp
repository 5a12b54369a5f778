// SPDX-License-Identifier: Apache-2.0
// Workers fall asleep and are woken thousands of times, by every way work can arrive: run() from
// several threads, promises fulfilled by external threads, strands passing values to and fro. A
// lost wake-up shows as a timeout.
#include <gtest/gtest.h>

#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <creek/host.hpp>
#include <creek/tasking.hpp>

#include "support/seed.hpp"

namespace creek::support {
namespace {

struct setup {
  const char* name;
  unsigned workers;
  idle_policy idle;
  scheduler_kind scheduler;
};

runtime make(const setup& chosen) {
  scheduler_options options;
  options.workers = chosen.workers;
  options.idle = chosen.idle;
  options.scheduler = chosen.scheduler;
  return runtime{host(options)};
}

class wake_stress : public ::testing::TestWithParam<setup> {
 protected:
  runtime rt = make(GetParam());
  std::uint64_t rounds = number_from("CREEK_TEST_ROUNDS", 1000);
  std::uint64_t seed = chosen_seed();

  void SetUp() override { std::cout << "replay with CREEK_TEST_SEED=" << seed << "\n"; }
  /// Lets workers fall asleep, or meets them while they do.
  static void dawdle(std::mt19937_64& random) {
    for (auto rest = random() % 2000; rest > 0; --rest)
      std::atomic_signal_fence(std::memory_order_seq_cst);
    if (random() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
  }
};

TEST_P(wake_stress, run_from_several_threads) {
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&, thread] {
      std::mt19937_64 random(seed + thread);
      for (std::uint64_t round = 0; round < rounds; ++round) {
        dawdle(random);
        ASSERT_EQ(rt.run([round] { return round; }), round);
      }
    });
  }
  for (auto& each : threads) each.join();
}

TEST_P(wake_stress, promises_kept_by_a_foreign_thread) {
  std::mt19937_64 random(seed);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    promise<std::uint64_t> made;
    auto doubled = rt.async([f = made.get_future()]() mutable { return 2 * f.get(); });
    dawdle(random);
    made.set_value(round);
    ASSERT_EQ(doubled.get(), 2 * round);
  }
}

TEST_P(wake_stress, two_strands_pass_a_ball) {
  struct turn {
    promise<int> ping, pong;
  };
  std::vector<turn> turns(rounds);
  const int sum = rt.run([&] {
    spawn([&] {
      for (auto& each : turns) each.pong.set_value(each.ping.get_future().get() + 1);
    });
    int ball = 0;
    for (auto& each : turns) {
      each.ping.set_value(ball);
      ball = each.pong.get_future().get();
    }
    taskwait();
    return ball;
  });
  EXPECT_EQ(sum, static_cast<int>(rounds));
}

TEST_P(wake_stress, small_bursts_of_tasks) {
  std::mt19937_64 random(seed);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const auto width = static_cast<unsigned>(1 + random() % 12);
    std::atomic<unsigned> ran{0};
    rt.run([&] {
      for (unsigned i = 0; i < width; ++i) {
        spawn([&] { fork_join([&] { ran.fetch_add(1); }, [&] { ran.fetch_add(1); }); });
      }
      if (width % 2 == 0) taskwait();
    });
    ASSERT_EQ(ran.load(), 2 * width);
    dawdle(random);
  }
}

TEST_P(wake_stress, a_runtime_that_ends_while_its_promise_is_being_kept) {
  for (std::uint64_t round = 0; round < rounds / 10; ++round) {
    promise<int> kept;
    auto value = kept.get_future();
    std::thread keeper;
    {
      runtime brief = make(GetParam());
      keeper = std::thread([&] { kept.set_value(7); });
      ASSERT_EQ(brief.run([&] { return value.get(); }), 7);
    }
    keeper.join();
  }
}

INSTANTIATE_TEST_SUITE_P(
    all, wake_stress,
    ::testing::Values(setup{"block", 2, idle_policy::block, scheduler_kind::stealing_random},
                      setup{"one", 1, idle_policy::block, scheduler_kind::stealing_random},
                      setup{"many", 6, idle_policy::block, scheduler_kind::stealing_last_victim},
                      setup{"sharing", 3, idle_policy::block, scheduler_kind::sharing},
                      setup{"backoff", 3, idle_policy::backoff, scheduler_kind::stealing_random},
                      setup{"poll", 2, idle_policy::poll, scheduler_kind::stealing_random}),
    [](const auto& chosen) { return std::string(chosen.param.name); });

}  // namespace
}  // namespace creek::support
